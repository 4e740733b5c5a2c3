"""The viewer answers nobody but who has its token, under a name of this machine, from its own page:
asked over real sockets.
"""

from __future__ import annotations

import asyncio
import http.client
import socket
from urllib.parse import urlsplit

import pytest
import viser
import websockets.asyncio.client
import websockets.asyncio.server
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

import gyrostat as gs
from gyrostat.model.findings import InternalError
from gyrostat.view import stage
from gyrostat.view.guard import Guard
from gyrostat.view.live import Viewer


@pytest.fixture(scope="module")
def viewer():
    viewer = Viewer(gs.load("client"), port=0)
    yield viewer
    viewer.stop()


@pytest.fixture(scope="module")
def place(viewer):
    """Host and port, and the path with the token."""
    parts = urlsplit(viewer.address)
    return parts.netloc, f"{parts.path}?{parts.query}"


def get(netloc, target, **headers):
    connection = http.client.HTTPConnection(netloc)
    connection.putrequest("GET", target, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body, answer.headers


def cookie_of(place):
    status, body, headers = get(*place)
    assert status == 200 and b"<html" in body
    return headers["Set-Cookie"]


def open_socket(netloc, **more):
    return connect(f"ws://{netloc}/", subprotocols=[f"viser-v{viser.__version__}"], compression=None, **more)


def test_the_address_that_is_printed_opens_the_page_and_its_socket(place):
    netloc, _ = place
    cookie = cookie_of(place)
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
    pair = cookie.partition(";")[0]
    assert get(netloc, "/", Cookie=f"other=1; {pair}")[0] == 200
    with open_socket(netloc, additional_headers={"Cookie": pair}, origin=f"http://{netloc}") as page:
        assert len(page.recv()) > 0  # the scene comes


def test_strangers_are_refused(place):
    netloc, target = place
    for other in ("/", "/?token=", "/?token=guess", target[:-1], "/index.html", "/%2e%2e/secret"):
        status, body, headers = get(netloc, other)
        assert status == 403 and "Set-Cookie" not in headers and b"token" in body
    assert get(netloc, "/", Cookie="gyrostat-1=guess")[0] == 403
    with pytest.raises(InvalidStatus) as caught:
        open_socket(netloc)
    assert caught.value.response.status_code == 403


def test_another_page_of_the_same_browser_is_refused(place):
    """It sends the cookie along, but cannot hide where it comes from."""
    netloc, target = place
    pair = cookie_of(place).partition(";")[0]
    port = netloc.partition(":")[2]
    for origin in (
        "http://evil.example",
        "null",
        f"https://{netloc}",
        "http://127.0.0.1:1",
        f"http://localhost:{port}",
    ):
        with pytest.raises(InvalidStatus) as caught:
            open_socket(netloc, additional_headers={"Cookie": pair}, origin=origin)
        assert caught.value.response.status_code == 403
        assert get(netloc, target, Origin=origin)[0] == 403


def test_a_foreign_name_that_leads_here_is_refused(place):
    """DNS rebinding: the page is its own, the address is ours."""
    netloc, target = place
    port = netloc.partition(":")[2]
    for name in ("evil.example", "127.0.0.1.evil.example", "192.168.0.7", "", "localhost.evil.example"):
        status, body, _ = get(netloc, target, Host=f"{name}:{port}", Origin=f"http://{name}:{port}")
        assert status == 403 and b"not a name of the machine" in body
    for name in ("localhost", "LOCALHOST.", "127.0.0.1", "[::1]", socket.gethostname()):
        assert get(netloc, target, Host=f"{name}:{port}")[0] == 200


def test_a_server_for_other_machines_is_found_by_its_numbers_and_wants_the_token():
    server, address = stage.start_server("0.0.0.0")
    try:
        netloc, target = urlsplit(address).netloc, f"/?{urlsplit(address).query}"
        assert netloc.startswith("127.0.0.1:")
        assert get(netloc, target, Host="192.168.0.7:80")[0] == 200
        assert get(netloc, "/", Host="192.168.0.7:80")[0] == 403
        assert get(netloc, target, Host="evil.example:80")[0] == 403
    finally:
        with stage.quiet():
            server.stop()


def test_every_start_has_a_token_of_its_own(viewer):
    tokens = {Guard("127.0.0.1").token for _ in range(100)}
    assert len(tokens) == 100 and all(len(token) >= 32 for token in tokens) and viewer.address[-32:] not in tokens


def test_a_server_that_cannot_be_guarded_is_not_started(monkeypatch):
    """As with a viser that would listen in another way: started past the guard."""
    plain = websockets.asyncio.server.serve

    def past(self):
        class Nothing:
            def __enter__(self):
                websockets.asyncio.server.serve = plain

            def __exit__(self, *_):
                pass

        return Nothing()

    monkeypatch.setattr(Guard, "on_duty", past)
    with pytest.raises(InternalError, match="cannot be guarded .it answered 200 without the token"):
        stage.start_server()
    assert websockets.asyncio.server.serve is plain


def test_other_servers_are_left_alone():
    """Somebody else's, started in the same moment."""

    async def say(connection):
        await connection.send("hello")

    async def work():
        with Guard("127.0.0.1").on_duty():
            server = await websockets.asyncio.server.serve(say, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, websockets.asyncio.client.connect(f"ws://127.0.0.1:{port}/") as client:
            return await client.recv()

    plain = websockets.asyncio.server.serve
    assert asyncio.run(work()) == "hello"
    assert websockets.asyncio.server.serve is plain
