"""`python -m interlingua` is the command `interlingua`."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line; Ctrl-C is one line also while it is being imported."""
    try:
        _leave_out_current_folder()
        from interlingua.cli.app import main as run
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: give the same command again.\n")
        raise SystemExit(130) from None
    run()


def _leave_out_current_folder() -> None:
    """Take the current folder off the path, where `python -m` and empty entries of PYTHONPATH put it.

    It is where the user's data lie, and a `numpy.py` among them is not meant. It stays where the package itself was
    found there. From here on all children are started so, too.
    """
    here, root = os.path.realpath(os.curdir), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    stated = [place for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
    if here not in map(os.path.realpath, (root, *stated)):
        sys.path[:] = [place for place in sys.path if os.path.realpath(place or os.curdir) != here]
    from interlingua.engine.child_processes import guard  # Not before: it imports modules that may lie there, too.

    guard()


if __name__ == "__main__":
    main()
