"""Standard output as a command needs it: any letters are written somehow, and what cannot be written is reported."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from interlingua.errors import InterlinguaError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


@contextmanager
def standard_output() -> Iterator[None]:
    """All that is printed inside is written before it ends; a full disk is one line, and a closed pipe none.

    Letters that the output's encoding lacks become question marks. Commands write their own files with errors of their
    own, so that a message here is about what was printed.
    """
    if sys.stdout is None:  # Closed by the shell (`>&-`): nobody listens.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        _be_silent()
        raise SystemExit(1) from None
    except OSError as error:
        if error.errno not in _FULL or error.filename is not None:  # One with a name is of another file.
            raise
        _be_silent()
        raise InterlinguaError(f"the output cannot be written ({error.strerror}). Send it to another place.") from error


def _be_silent() -> None:
    """Let what is left go nowhere: Python would try to write it at its end, and print a traceback."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
