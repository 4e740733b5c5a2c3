"""One client of a server: what it has sent, and what it has not read yet."""

from __future__ import annotations

import select
import socket
import time
from contextlib import suppress

from ..algebra import Array
from .records import BadRecord, Inbox, Kind, error, load_of

MOST_UNREAD = 2**22  # bytes of states: a client that is further behind has gone
POLITE = 5.0  # seconds without a sign of it in which a client may read what is left


class Lost(Exception):
    """The client is gone, or has ended the run."""


class Client:
    """load: the one that came last, None before the first."""

    def __init__(self, connection: socket.socket, nv: int) -> None:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket, self._inbox, self._unread = connection, Inbox(nv), bytearray()
        self.load: Array | None = None

    def send(self, data: bytes) -> None:
        """What does not go now goes later; nobody is waited for."""
        self._unread += data
        try:
            sent = self._socket.send(self._unread)
        except BlockingIOError:
            sent = 0
        except OSError as reason:
            raise Lost(f"the client is gone ({reason.strerror or reason})") from None
        del self._unread[:sent]
        if len(self._unread) > MOST_UNREAD:
            raise Lost(f"the client has not read {len(self._unread)} bytes of states")

    def receive_until(self, due: float) -> None:
        """What comes until that time of the monotonic clock; once at least."""
        while True:
            rest = max(0.0, due - time.monotonic())
            if select.select([self._socket], [], [], rest)[0]:
                self._receive()
            if time.monotonic() >= due:
                return

    def _receive(self) -> None:
        try:
            data = self._socket.recv(2**16)
        except BlockingIOError:
            return
        except OSError as reason:
            raise Lost(f"the client is gone ({reason.strerror or reason})") from None
        if not data:
            raise Lost("the client has closed the connection")
        for kind, payload in self._inbox.take(data):
            if kind is Kind.end:
                raise Lost("the client has ended the run")
            self.load = load_of(payload)

    def refuse(self, reason: BadRecord | ValueError) -> None:
        """Say why, and close."""
        self._unread += error(str(reason))
        self.finish()

    def finish(self) -> None:
        """Let it read what is left, and close when it does: to close before it, with its bytes unread, would take ours
        back.
        """
        with suppress(OSError):
            self._socket.settimeout(POLITE)
            self._socket.sendall(self._unread)
            self._socket.shutdown(socket.SHUT_WR)
            while self._socket.recv(2**16):
                pass
        self.close()

    def close(self) -> None:
        self._socket.close()
