"""Commands in processes that are forked from one that has imported everything, with an accident at a chosen moment.

The moment is counted in changes to files below a folder, seen by Python's audit events, so that no command knows of it:
`at=7` is just before the seventh file is opened for writing, renamed, removed, linked or made a folder. Bytes are
counted by the system (RLIMIT_FSIZE), so that libraries that are not Python meet it too: with `size=100` no file grows
past 100 bytes.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

SOURCE = Path(__file__).parents[2] / "src"
_CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate"}


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code (minus a signal's number), what it said, and how many changes it made."""

    code: int
    out: str
    err: str
    changes: int
    seconds: float = 0.0

    @property
    def last(self) -> str:
        """The last line of stderr."""
        return (self.err.strip().splitlines() or [""])[-1]


class Commands:
    """A process that runs commands in forks of itself, in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None

    def run(
        self,
        command: list[str],
        *,
        below: Path,
        accident: str = "",
        at: int = 0,
        size: int = 0,
        after: float = 0.0,
        user: int = 0,
        seconds: float = 120.0,
    ) -> Ended:
        """Run a command; the `accident` (kill, full) comes at change `at` below a folder, or where a file is `size`.

        Of `wait` the command waits at that change: it makes `below.waiting`, and goes on when `below.go` is there.
        `after` so many seconds a command is killed, whatever it is at.
        """
        if self._process is None:
            code = "import sys; sys.path.insert(0, sys.argv[1]); import forked; forked.serve()"
            own = {"PYTHONPATH": str(SOURCE), "INTERLINGUA_CACHE": str(self._folder / "cache")}
            quiet = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
            self._process = subprocess.Popen(
                [sys.executable, "-c", code, str(Path(__file__).parent)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=self._folder,
                env={**os.environ, **own, **quiet},
            )
        asked = {"command": command, "below": str(below), "accident": accident, "at": at, "size": size, "user": user}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({**asked, "after": after, "seconds": seconds}) + "\n")
        self._process.stdin.flush()
        return Ended(**json.loads(self._process.stdout.readline()))

    def end(self) -> None:
        if self._process is not None:
            self._process.communicate()
            self._process = None


def serve() -> None:
    """Take commands from stdin, one line each; each runs in a fork of this process, which has run none."""
    import torch
    import transformers

    import interlingua.cli.app
    import interlingua.commands.adjust
    import interlingua.commands.explain
    import interlingua.commands.geometry
    import interlingua.commands.report
    import interlingua.commands.study
    import interlingua.commands.transfer
    import interlingua.studies.pretraining  # noqa: F401

    torch.set_num_threads(1)
    _ = transformers.AutoModel, transformers.AutoTokenizer, transformers.PreTrainedTokenizerFast
    for line in sys.stdin:
        print(json.dumps(asdict(_forked(json.loads(line)))), flush=True)


def _forked(asked: dict[str, Any]) -> Ended:
    counted = os.memfd_create("changes")
    out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
    child = os.fork()
    if child == 0:
        _run(asked, out.fileno(), err.fileno(), counted)
    began = time.monotonic()
    until, killed = began + asked["seconds"], asked["after"]
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            until += 60
            err.write(b"\nnot ended in time")
        if killed and time.monotonic() > began + killed:
            os.kill(child, signal.SIGKILL)
            killed = 0.0
        time.sleep(0.005)
    took = time.monotonic() - began
    texts = []
    for file in (out, err):
        file.seek(0)
        texts.append(file.read().decode("utf-8", "replace"))
        file.close()
    changes = os.lseek(counted, 0, os.SEEK_END)
    os.close(counted)
    return Ended(os.waitstatus_to_exitcode(ended[1]), *texts, changes, took)


def _run(asked: dict[str, Any], out: int, err: int, counted: int) -> NoReturn:
    code = 1
    try:
        os.setpgid(0, 0)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
        sys.argv = ["interlingua", *asked["command"]]
        _watch(asked["below"], asked["accident"], asked["at"], counted)
        if asked["size"]:
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL if asked["accident"] == "kill" else signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (asked["size"], asked["size"]))
        if asked["user"]:
            os.setgroups([])
            os.setgid(asked["user"])
            os.setuid(asked["user"])
        from interlingua.cli.app import main

        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _watch(below: str, accident: str, at: int, counted: int) -> None:
    """Count the changes below a folder; at the chosen one the process is killed, or from there on the disk is full."""
    own, seen = os.getpid(), 0

    def told(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        if (event not in _CHANGES and (event != "open" or not _writes(arguments))) or os.getpid() != own:
            return
        paths = [os.fsdecode(each) for each in arguments if isinstance(each, str | bytes | os.PathLike)]
        if not any(os.path.abspath(path).startswith(below) for path in paths):
            return
        seen += 1
        os.write(counted, b".")
        if at and accident == "kill" and seen == at:
            os.kill(own, signal.SIGKILL)
        if at and accident == "wait" and seen == at:
            Path(f"{below}.waiting").touch()
            while not os.path.exists(f"{below}.go"):
                time.sleep(0.01)
        if at and accident == "full" and seen >= at and event in ("open", "os.mkdir", "os.link", "os.rename"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), paths[0])

    sys.addaudithook(told)


def _writes(arguments: tuple[Any, ...]) -> bool:
    path, _, flags = arguments
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT
    return isinstance(path, str | bytes) and isinstance(flags, int) and bool(flags & writing)
