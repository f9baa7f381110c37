"""Requests to the explorer as its own page sends them."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any

from interlingua.explorer.server import ExplorerServer


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Client:
    """Requests as a browser on the page sends them, unless told otherwise."""

    server: ExplorerServer

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str | None) -> Reply:
        gate = self.server.gate
        given: dict[str, str | None] = {"Cookie": gate.cookie.partition(";")[0], "Host": gate.hosts[0]}
        if method == "POST":
            given["Origin"] = f"http://{gate.hosts[0]}"
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", gate.port, timeout=120)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            if body is not None and "Content_Length" not in headers:
                given["Content-Length"] = str(len(body))
            for name, value in given.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(body)
            found = connection.getresponse()
            return Reply(found.status, {name.lower(): value for name, value in found.getheaders()}, found.read())
        finally:
            connection.close()

    def post(self, route: str, asked: object, **headers: str | None) -> Reply:
        return self.ask("POST", f"/api/{route}", json.dumps(asked).encode(), **headers)
