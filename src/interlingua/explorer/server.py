"""The explorer over HTTP, on this machine alone: routes, limits, and a clean stop. The standard library's server.

A dozen routes need no framework: a thread a connection, all of them waiting for one model, is what `http.server` does,
and it adds nothing to install. It is not for the open net, and this never listens there.
"""

from __future__ import annotations

import io
import json
import select
import socket
import sys
import threading
import time
import traceback
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import SplitResult, urlsplit

from interlingua.errors import InputError
from interlingua.explorer.explorer import Answer, Explorer
from interlingua.explorer.model_queue import Busy, ModelQueue
from interlingua.explorer.request_guard import ADDRESS, Refusal, RequestGuard
from interlingua.explorer.response_cache import AnswerCache

LARGEST = 64 << 10
"""Bytes of a request's body, at most."""
CONNECTIONS = 256
"""Connections at a time that have shown the token, at most: each has a thread."""
STRANGERS = 128
"""Connections at a time that have not; a new one takes the place of the oldest, so that nobody can hold them all."""
IDLE = 30.0
"""Seconds in which a request has to be here, from the end of the one before on a connection that showed the token."""
HURRY = 10.0
"""The same for a connection that has not shown it; and the seconds in which an answer has to be taken."""
_DRAINED = 32 << 20  # bytes of a refused body that are read and thrown away, so that the refusal can be read
_DRAINING = 2.0
_RESET = 0.02  # seconds in which a closed connection of this machine says so
_STOPPING = 5.0
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_PAGES = {
    "/": "explorer/page/explore.html",
    "/house.css": "explorer/page/house.css",
    "/explore.css": "explorer/page/explore.css",
    "/explore.js": "explorer/page/explore.js",
    "/figure.js": "explorer/page/figure.js",
    "/layers.js": "explorer/page/layers.js",
    "/elements.js": "explorer/page/elements.js",
}
_JSON = "application/json; charset=utf-8"
WITHOUT_MODEL = ("rows",)
"""Routes that need no turn at the model."""


class ExplorerServer(ThreadingHTTPServer):
    """A server for one explorer; `with ExplorerServer(explorer) as server:` answers until the block ends."""

    daemon_threads = True
    block_on_close = False  # An idle connection would hold up the stop for as long as it may be silent.
    request_queue_size = 128
    allow_reuse_address = True
    limit = 30.0
    """Seconds of work for one answer, at most."""

    def __init__(self, explorer: Explorer, *, port: int = 0, turns: ModelQueue | None = None) -> None:
        super().__init__((ADDRESS, port), _Handler)
        self.explorer, self.turns, self.kept = explorer, turns or ModelQueue(), AnswerCache()
        self.gate = RequestGuard(int(self.server_address[1]))
        self.pages = {
            path: (
                f"{_KINDS[name.rpartition('.')[2]]}; charset=utf-8",
                files("interlingua").joinpath(name).read_bytes(),
            )
            for path, name in _PAGES.items()
        }
        self._worker = ThreadPoolExecutor(1)
        self._connections = threading.Lock()
        self._strangers: dict[socket.socket, None] = {}
        self._known: set[socket.socket] = set()
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)

    def __enter__(self) -> ExplorerServer:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def stop(self) -> bool:
        """Take no more connections, send away who waits, let the model finish; whether it did within a few seconds."""
        self.shutdown()
        done = self.turns.close(seconds=_STOPPING)
        self._worker.shutdown(wait=done)
        self.server_close()
        return done

    def process_request(self, request: Any, client_address: Any) -> None:
        """A thread for the connection, whose client is a stranger until it shows the token."""
        with self._connections:
            if len(self._strangers) >= STRANGERS:
                oldest = next(iter(self._strangers))
                del self._strangers[oldest]
                with suppress(OSError):  # Its thread reads the end of it, and ends.
                    oldest.shutdown(socket.SHUT_RDWR)
            self._strangers[request] = None
        super().process_request(request, client_address)

    def introduce(self, request: socket.socket) -> bool:
        """Take a connection for one of the owner's, which showed the token; False where there are too many of them."""
        with self._connections:
            if len(self._known) >= CONNECTIONS or request not in self._strangers:
                return False
            del self._strangers[request]
            self._known.add(request)
            return True

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._connections:
                self._strangers.pop(request, None)
                self._known.discard(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error of ours; anything else is, and is reported."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            traceback.print_exc()

    def answer(self, route: str, body: bytes, gone: Any) -> bytes:
        """The answer to a request as JSON; one given before is given again, without a turn."""
        try:
            asked = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise InputError("a request is no JSON", remedy="Send a JSON object.") from error
        key = f"{route} {json.dumps(asked, sort_keys=True)}"
        found = self.kept.get(key)
        if found is None:
            call = self.explorer.routes[route]
            if route in WITHOUT_MODEL:
                made = call(asked)
            else:
                with self.turns.one():
                    # Whoever has moved on to another layer or another word no longer waits for this one.
                    if gone():
                        raise ConnectionAbortedError
                    # Always in one thread: torch keeps threads and memory of its own for every thread that calls it.
                    made = self._within(self._worker.submit(call, asked))
            found = json.dumps(made, ensure_ascii=False, allow_nan=False).encode()
            self.kept.put(key, found)
        return found

    def _within(self, work: Future[Answer]) -> Answer:
        """What the work gives, within the time an answer may take; a thread can't be stopped, so it goes on unheard."""
        try:
            return work.result(timeout=self.limit)
        except TimeoutError as error:
            raise Busy(f"No answer within {self.limit:g} s. Try shorter sentences.") from error


class _Incoming(io.RawIOBase):
    """What a client sends, until a moment: however slowly it comes, a request is here by then or never."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self.until = connection, 0.0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._connection.settimeout(max(self.until - time.monotonic(), 1e-6))
        return self._connection.recv_into(buffer)


class _Handler(BaseHTTPRequestHandler):
    server: ExplorerServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    known = False

    def setup(self) -> None:
        """The connection, whose bytes are read until a moment."""
        super().setup()
        self.rfile.close()
        self._incoming = _Incoming(self.connection)
        self.rfile = io.BufferedReader(self._incoming)

    def handle_one_request(self) -> None:
        """One request, which has to be here in time; the library answers it, or closes the connection."""
        self._incoming.until = time.monotonic() + (IDLE if self.known else HURRY)
        super().handle_one_request()

    def _introduced(self) -> bool:
        """Whether the request, which showed the token, is answered: it is refused where there are too many."""
        if not self.known:
            self.known = self.server.introduce(self.request)
        if not self.known:
            self._refuse(Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "Too many connections."))
        return self.known

    def do_GET(self) -> None:
        parts = self._asked
        if (refused := self.server.gate.wrong_host(self._names)) is not None:
            self._refuse(refused)
        elif parts.path == "/" and self.server.gate.enters(parts.query):
            # The page's own address has no token: it is not in what is copied, bookmarked or shown.
            self._send(
                HTTPStatus.SEE_OTHER, b"", "text/plain", {"Location": "/", "Set-Cookie": self.server.gate.cookie}
            )
        elif (refused := self.server.gate.refusal("GET", self._names)) is not None:
            self._refuse(refused)
        elif not self._introduced():
            return
        elif parts.path == "/api/setup":
            self._send(HTTPStatus.OK, json.dumps(self.server.explorer.setup(), ensure_ascii=False).encode(), _JSON)
        elif parts.path in self.server.pages:
            kind, page = self.server.pages[parts.path]
            self._send(HTTPStatus.OK, page, kind)
        else:
            self._refuse(Refusal(HTTPStatus.NOT_FOUND, "There is nothing here."))

    @property
    def _asked(self) -> SplitResult:
        """The address that is asked for; one that can't be read (`http://[`) is one where nothing is."""
        try:
            return urlsplit(self.path)
        except ValueError:
            return urlsplit("")

    @property
    def _names(self) -> dict[str, str]:
        # Of a header given twice both are read as one, so that neither can hide behind the other.
        return {name.lower(): ", ".join(self.headers.get_all(name, [])) for name in self.headers}

    def do_POST(self) -> None:
        refused = self.server.gate.refusal("POST", self._names)
        if refused is None and not self._introduced():
            return
        refused = refused or self._too_large()
        route = self._asked.path.removeprefix("/api/")
        if refused is None and route not in self.server.explorer.routes:
            refused = Refusal(HTTPStatus.NOT_FOUND, "There is nothing here.")
        if refused is not None:
            self._refuse(refused)
            return
        body = self.rfile.read(int(self.headers["Content-Length"]))
        begun = time.perf_counter()
        try:
            found = self.server.answer(route, body, self._gone)
        except InputError as error:
            self._say(HTTPStatus.BAD_REQUEST, str(error))
        except Busy as error:
            self._say(HTTPStatus.SERVICE_UNAVAILABLE, str(error), {"Retry-After": "1"})
        except ConnectionError:
            self.close_connection = True
        except Exception:
            traceback.print_exc()
            self._say(HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong; the terminal says what.")
        else:
            took = {"Server-Timing": f"all;dur={1000 * (time.perf_counter() - begun):.1f}"}
            self._send(HTTPStatus.OK, found, _JSON, took)

    def _too_large(self) -> Refusal | None:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or "Transfer-Encoding" in self.headers:
            return Refusal(HTTPStatus.LENGTH_REQUIRED, "A request has to state its length.")
        if len(length) > 12 or int(length) > LARGEST:
            reason = f"A request of more than {LARGEST >> 10} KB is not read."
            return Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)
        return None

    def _gone(self) -> bool:
        """Whether the client has closed the connection while it waited.

        One that has only said all it had to say looks the same until something is sent to it: a closed one answers
        that with a reset. `100 Continue` is what every client of HTTP/1.1 passes over.
        """
        ready = select.poll()
        ready.register(self.connection, select.POLLIN)
        try:
            # Asked first whether there is anything to read: a socket with a time limit would wait for it.
            if not ready.poll(0) or self.connection.recv(1, socket.MSG_PEEK):
                return False
            if self.request_version != "HTTP/1.1":
                return False
            self.connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            time.sleep(_RESET)
            return any(seen & (select.POLLERR | select.POLLHUP) for _, seen in ready.poll(0))
        except OSError:
            return True

    def _say(self, status: HTTPStatus, words: str, headers: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps({"error": words}, ensure_ascii=False).encode(), _JSON, headers)

    def _refuse(self, refused: Refusal) -> None:
        """The refusal as JSON for the page's scripts and as a line for a person; nothing more is read."""
        self.close_connection = True
        headers = {"Connection": "close"}
        if self.command == "POST":
            self._say(refused.status, refused.reason, headers)
        else:
            self._send(refused.status, refused.reason.encode(), "text/plain; charset=utf-8", headers)
        self._drain()

    def _drain(self) -> None:
        """Read on a little after a refusal: closing with bytes unread would reset the connection before it is read."""
        try:
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_WR)
            left, until = _DRAINED, time.monotonic() + _DRAINING
            while left > 0 and (rest := until - time.monotonic()) > 0:
                self.connection.settimeout(rest)
                if not (chunk := self.connection.recv(1 << 16)):
                    break
                left -= len(chunk)
        except OSError:
            return

    def _send(self, status: HTTPStatus, body: bytes, kind: str, headers: dict[str, str] | None = None) -> None:
        self.connection.settimeout(HURRY)
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the library finds wrong with a request, without repeating any of it."""
        self.close_connection = True
        self._send(HTTPStatus(code), b"", "text/plain", {"Connection": "close"})

    def version_string(self) -> str:
        return "interlingua"

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the terminal is for what went wrong."""
