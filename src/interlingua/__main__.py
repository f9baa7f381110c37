"""`python -m interlingua` is the command `interlingua`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; Ctrl-C is one line also while it is being imported."""
    try:
        from interlingua.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: give the same command again.\n")
        raise SystemExit(130) from None
    run()


if __name__ == "__main__":
    main()
