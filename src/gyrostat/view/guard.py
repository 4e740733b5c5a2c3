"""Who may talk to the viewer: whoever has the token that stands in its address, through a name of this machine, from
its own page.

Without it, any page in the user's browser could open the viewer's socket, a name server could lead a foreign page here,
and anybody with an account on the machine could look on. The token is in the address that is printed; the page that it
opens keeps it as a cookie.
"""

from __future__ import annotations

import http.client
import ipaddress
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ..model.findings import InternalError

Process = Callable[[Any, Any], Any]
_patching = threading.Lock()


class Guard:
    """Judges every request to one server, pages and sockets alike, before anything else sees it."""

    def __init__(self, host: str) -> None:
        self.host, self.token = host, secrets.token_urlsafe(24)

    def reason_against(self, target: str, headers: Any) -> str:
        """Why a request is refused; empty if it is not. target: path and query; headers: as in `websockets`."""
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        if len(hosts) != 1 or not self._ours(hosts[0]):
            return "this is not a name of the machine that the viewer runs on"
        if origins and [origin.lower() for origin in origins] != [f"http://{hosts[0]}".lower()]:
            return "another page asks"
        if not any(secrets.compare_digest(given.encode(), self.token.encode()) for given in _tokens(target, headers)):
            return "the token is missing: open the whole address that was printed"
        return ""

    def _ours(self, host: str) -> bool:
        """A foreign page can be led here under a name of its own, but not under a number."""
        name = _name(host)
        try:
            number = ipaddress.ip_address(name)
        except ValueError:
            return name in {"localhost", self.host.lower(), socket.gethostname().lower()}
        return number.is_loopback or not _loopback(self.host)

    def around(self, process: Process | None) -> Process:
        """`process`, asked only where nothing speaks against the request."""

        def judged(connection: Any, request: Any) -> Any:
            reason = self.reason_against(request.path, request.headers)
            if reason:
                return connection.respond(HTTPStatus.FORBIDDEN, f"Refused: {reason}.\n")
            answer = None if process is None else process(connection, request)
            if answer is not None and answer.status_code == 200 and urlsplit(request.path).query:
                name = _cookie(request.headers)
                answer.headers["Set-Cookie"] = f"{name}={self.token}; Path=/; HttpOnly; SameSite=Lax"
                answer.headers["Referrer-Policy"] = "no-referrer"
            return answer

        return judged

    @contextmanager
    def on_duty(self) -> Iterator[None]:
        """Servers that viser starts within are guarded.

        It has no hook for that: the function that it calls to listen is wrapped.
        """
        import websockets.asyncio.server as sockets

        with _patching:
            plain: Any = sockets.serve

            def serve(handler: Any, *args: Any, process_request: Process | None = None, **named: Any) -> Any:
                if str(getattr(handler, "__module__", "")).partition(".")[0] == "viser":
                    process_request = self.around(process_request)
                return plain(handler, *args, process_request=process_request, **named)

            sockets.serve = serve  # type: ignore[misc,assignment]
            try:
                yield
            finally:
                sockets.serve = plain  # type: ignore[misc]

    def prove(self, port: int) -> None:
        """Ask the server as a stranger would, and as the user does: another viser might listen in another way."""
        refused, served = self._ask(port, "/"), self._ask(port, f"/?token={self.token}")
        if (refused, served) != (HTTPStatus.FORBIDDEN, HTTPStatus.OK):
            raise InternalError(
                f"this version of viser cannot be guarded (it answered {refused} without the token, {served} with it). "
                "Install viser 1.1."
            )

    def _ask(self, port: int, target: str) -> int:
        connection = http.client.HTTPConnection(reachable(self.host), port, timeout=60)
        try:
            connection.request("GET", target)
            return connection.getresponse().status
        finally:
            connection.close()


def reachable(host: str) -> str:
    """Where a server that listens at `host` is found from this machine."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)


def _tokens(target: str, headers: Any) -> list[str]:
    """Tokens in the address and in the cookie."""
    found = parse_qs(urlsplit(target).query).get("token", [])
    for line in headers.get_all("Cookie"):
        for part in line.split(";"):
            name, _, value = part.strip().partition("=")
            if name == _cookie(headers):
                found.append(value)
    return found


def _cookie(headers: Any) -> str:
    """Its name. Browsers keep cookies by host, not by port, and several viewers may run."""
    return f"gyrostat-{headers.get_all('Host')[0].rpartition(':')[2]}"


def _name(host: str) -> str:
    """The name in a Host header, without port and brackets."""
    host = host.lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].removesuffix(".")


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
