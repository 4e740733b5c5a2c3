"""A client of `gyrostat serve scenario.toml` in thirty lines: brakes the joints. python client.py [host [port]]"""

import socket
import struct
import sys

host, port = (sys.argv[1:2] or ["127.0.0.1"])[0], int((sys.argv[2:3] or [8090])[0])


def receive(connection):
    """(kind, payload) of the next record."""
    length, kind = struct.unpack("<II", connection.recv(8, socket.MSG_WAITALL))
    return kind, connection.recv(length - 4, socket.MSG_WAITALL) if length > 4 else b""


with socket.create_connection((host, port)) as connection:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    _, payload = receive(connection)
    version, nq, nv, _, dt, t = struct.unpack("<IIIIdd", payload)
    standing = missed = 0
    while standing == 0:
        kind, payload = receive(connection)
        if kind == 3:
            sys.exit(payload.decode())
        standing, _, tick, missed, t = struct.unpack_from("<IIQQd", payload)
        numbers = struct.unpack_from(f"<{nq + nv}d", payload, 32)
        v = numbers[nq:]
        if standing == 0:
            load = [0.0] * 6 + [-20.0 * rate for rate in v[6:]]
            connection.sendall(struct.pack(f"<II{nv}d", 4 + 8 * nv, 4, *load))
print(f"t = {t:.6g} s, {missed} deadlines missed, fastest joint {max(map(abs, v[6:])):.3g} rad/s")
