"""`python -m interlingua` is the command `interlingua`."""

from interlingua.cli import main

main()
