"""Who may ask: the token, the host a browser thinks it speaks to, and the page that a request comes from."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import parse_qs

ADDRESS = "127.0.0.1"
"""The only address that is listened on."""
HEADER = "x-interlingua-token"


@dataclass(frozen=True)
class Refusal:
    """Why a request is not answered: a status, and words that give nothing away."""

    status: HTTPStatus
    reason: str


@dataclass(frozen=True)
class RequestGuard:
    """The rules for one server, which listens on `port`.

    The token comes with the first address, and then in a cookie that scripts can't read, or in a header. A name other
    than ours in `Host` is another site's that points here (DNS rebinding); another `Origin` is another site's page.

    >>> gate = RequestGuard(8017, token="t" * 43)
    >>> gate.refusal("GET", {"host": "evil.example:8017"}).status.value
    421
    >>> gate.refusal("GET", {"host": "localhost:8017", "x-interlingua-token": "wrong"}).status.value
    403
    >>> gate.refusal("GET", {"host": "localhost:8017", "cookie": gate.cookie.partition(";")[0]}) is None
    True
    """

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def address(self) -> str:
        """The address to open once; it holds the token."""
        return f"http://{ADDRESS}:{self.port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """The `Set-Cookie` of a first visit. Cookies are shared by all ports of a host: ours has its port in the name.

        Lax, so that a permalink followed from elsewhere opens the page; it asks for nothing that changes anything.
        """
        return f"{self._name}={self.token}; Path=/; HttpOnly; SameSite=Lax"

    @property
    def _name(self) -> str:
        return f"interlingua-{self.port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What `Host` may be."""
        return f"{ADDRESS}:{self.port}", f"localhost:{self.port}"

    def enters(self, query: str) -> bool:
        """Whether the query of a first visit holds the token."""
        return any(self._right(given) for given in parse_qs(query).get("token", []))

    def refusal(self, method: str, headers: Mapping[str, str]) -> Refusal | None:
        """Why a request with these headers, by their names in lower case, is refused, or None."""
        if (refused := self.wrong_host(headers)) is not None:
            return refused
        by_header = headers.get(HEADER)
        if not self._right(by_header if by_header is not None else self._in_cookie(headers.get("cookie", ""))):
            return Refusal(HTTPStatus.FORBIDDEN, "Open the address that interlingua printed: it holds a token.")
        origin = headers.get("origin")
        # A browser names the origin of every POST; a program that sends the header need not.
        if origin is None and method == "POST" and by_header is None:
            return Refusal(HTTPStatus.FORBIDDEN, "A request without an origin.")
        if origin is not None and origin not in [f"http://{host}" for host in self.hosts]:
            return Refusal(HTTPStatus.FORBIDDEN, "A request of another page.")
        return None

    def wrong_host(self, headers: Mapping[str, str]) -> Refusal | None:
        """The refusal of a request to another name, or None."""
        if headers.get("host", "").lower() in self.hosts:
            return None
        return Refusal(HTTPStatus.MISDIRECTED_REQUEST, "This server answers to 127.0.0.1 and localhost alone.")

    def _in_cookie(self, header: str) -> str:
        # By hand: `http.cookies` stops at the first pair it dislikes, and other ports' cookies come along.
        pairs = (pair.strip().partition("=") for pair in header.split(";"))
        return next((value for name, _, value in pairs if name == self._name), "")

    def _right(self, given: str) -> bool:
        # In constant time: how long it takes says nothing of how much was right.
        return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), self.token.encode())
