"""A served simulation: what comes over the socket is what the simulation does, and no client can harm it."""

from __future__ import annotations

import select
import socket
import struct
import threading
from contextlib import contextmanager

import numpy as np
import pytest

import gyrostat as gs
import manoeuvre
from gyrostat.serving import Kind, Server, Standing

DT = 0.005


def made(**options):
    craft, q, v = manoeuvre.start()
    v[6:] = [0.1, -0.05, 0.08, 0.2, -0.1, 0.3]
    sim = gs.Simulation(craft, integrator="rk4", step=DT, record=True, **options)
    sim.reset(q, v)
    return sim


@contextmanager
def served(sim, ticks):
    """The server in a thread of its own, and its report when it has ended."""
    found, stop = {}, threading.Event()
    with Server(sim, DT) as server:
        thread = threading.Thread(target=lambda: found.update(report=server.serve(ticks, stop.is_set)))
        thread.start()
        try:
            yield server.address, found
        finally:
            if not found.get("patient", True):
                stop.set()
            thread.join(60)
            stop.set()
            thread.join(10)
            assert not thread.is_alive()


def receive(connection):
    length, kind = struct.unpack("<II", connection.recv(8, socket.MSG_WAITALL))
    return Kind(kind), connection.recv(length - 4, socket.MSG_WAITALL) if length > 4 else b""


def state_of(payload, nq=13, nv=12):
    standing, _, tick, missed, t = struct.unpack_from("<IIQQd", payload)
    numbers = np.frombuffer(payload, "<f8", offset=32)
    return Standing(standing), tick, missed, t, numbers[:nq], numbers[nq : nq + nv]


def load_record(load):
    return struct.pack(f"<II{len(load)}d", 4 + 8 * len(load), 4, *load)


def connected(address):
    connection = socket.create_connection(address, timeout=30)
    kind, payload = receive(connection)
    assert kind is Kind.hello and struct.unpack_from("<IIII", payload) == (1, 13, 12, 0)
    return connection, struct.unpack_from("<dd", payload, 16)


def test_states_are_those_of_the_simulation_and_loads_act_on_it():
    sim, seen = made(), []
    with served(sim, 60) as (address, found):
        connection, (dt, t0) = connected(address)
        assert (dt, t0) == (DT, 0.0)
        with connection:
            standing = Standing.running
            while standing is Standing.running:
                standing, tick, _missed, t, q, v = state_of(receive(connection)[1])
                seen.append((tick, t, q, v))
                if standing is Standing.running:
                    connection.sendall(load_record(np.r_[np.zeros(6), -3.0 * v[6:]]))
    report = found["report"]
    assert standing is Standing.ended and report.ticks == 60 and report.reason == "its time is over"
    assert [tick for tick, *_ in seen] == list(range(61)) and not report.failed
    trajectory = sim.trajectory()
    np.testing.assert_array_equal([t for _, t, *_ in seen], trajectory.time)
    np.testing.assert_array_equal([q for _, _, q, _ in seen], trajectory.q)
    loads = trajectory.data["held"].values[:-1]
    assert np.abs(loads[1:, 6:]).max() > 0.1  # some have come in time
    again = made()
    for load in loads:
        again.step(load, DT)
    np.testing.assert_array_equal(again.q, seen[-1][2])
    np.testing.assert_array_equal(again.v, seen[-1][3])


def test_a_client_that_lags_behind_still_reads_everything():
    sim, ticks = made(), []
    with served(sim, 40) as (address, _):
        connection, _ = connected(address)
        with connection:
            while True:
                standing, tick, *_ = state_of(receive(connection)[1])
                ticks.append(tick)
                if standing is not Standing.running:
                    break
                if tick == 3:  # until the server has ended, and this client's loads stand unread there
                    for _ in range(200):
                        connection.sendall(load_record(np.zeros(12)))
                        threading.Event().wait(0.003)
    assert ticks == list(range(41))


GARBAGE = {
    "words": (b"GET / HTTP/1.1\r\nHost: here\r\n\r\n", "expected a load"),
    "a huge length": (struct.pack("<II", 2**32 - 1, 4), r"has length 4294967295; expected 100"),
    "too few loads": (load_record(np.zeros(5)), r"has length 44; expected 100"),
    "an unknown kind": (struct.pack("<II", 4, 9), "a record of kind 9"),
    "what a server sends": (struct.pack("<II", 4, 2), "a record of kind 2"),
    "no number": (load_record(np.r_[np.zeros(11), np.nan]), r"the load on 'joint_6' \(entry 11\) is nan"),
}


@pytest.mark.parametrize("case", GARBAGE)
def test_garbage_is_answered_with_words_and_the_simulation_stands_unharmed(case):
    data, words = GARBAGE[case]
    sim = made()
    with served(sim, 20) as (address, found):
        connection, _ = connected(address)
        with connection:
            connection.sendall(data)
            kind, payload = receive(connection)
            last = None
            while kind is Kind.state:
                last, (kind, payload) = state_of(payload), receive(connection)
            assert kind is Kind.error
            with pytest.raises(ValueError, match=words):
                raise ValueError(payload.decode())
            assert connection.recv(1) == b""
        connection, (_, t) = connected(address)  # another client finds it where it stood
        assert t == last[3]
        with connection:
            standing, tick, _, _, q, _ = state_of(receive(connection)[1])
            assert tick == last[1] and np.array_equal(q, last[4])
            while standing is Standing.running:
                standing, tick, *_ = state_of(receive(connection)[1])
    assert tick == 20 and len(found["report"].told) == 1
    again = made()
    for _ in range(20):
        again.step(np.zeros(12), DT)
    np.testing.assert_array_equal(sim.q, again.q)


LEAVING = {
    "closes": lambda connection: connection.close(),
    "closes in the middle of a record": lambda connection: (connection.sendall(b"\x64\x00"), connection.close()),
    "is cut off": lambda connection: (
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)),
        connection.close(),
    ),
    "ends the run": lambda connection: connection.sendall(struct.pack("<II", 4, 5)),
}


@pytest.mark.parametrize("case", LEAVING)
def test_the_run_ends_cleanly_when_the_client_leaves(case):
    sim = made()
    with served(sim, 10**6) as (address, found):
        connection, _ = connected(address)
        for _ in range(3):
            receive(connection)
        LEAVING[case](connection)
    report = found["report"]
    connection.close()
    assert "client" in report.reason and 2 <= report.ticks < 10**5 and not report.failed
    assert sim.trajectory().ok and sim.t == pytest.approx(report.ticks * DT)


def test_a_client_that_does_not_read_is_let_go_and_delays_nobody(monkeypatch):
    from gyrostat.serving import client

    monkeypatch.setattr(client, "MOST_UNREAD", 2**12)
    sim = made()
    with Server(sim, 2e-4) as server:
        server._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**12)
        found = {}
        thread = threading.Thread(target=lambda: found.update(report=server.serve(10**5)))
        thread.start()
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**12)
        connection.connect(server.address)
        thread.join(60)
        connection.close()
    assert "has not read" in found["report"].reason


def test_a_run_that_fails_says_so_to_the_client_and_in_the_report():
    def pulled(craft, t, q, v):
        force = np.zeros((craft.nbodies, 6))
        return force + np.concatenate([[1.0 / (0.05 - t)], np.zeros(5)])

    sim = made(environment=pulled)
    with served(sim, 100) as (address, found):
        connection, _ = connected(address)
        with connection:
            standing = Standing.running
            while standing is Standing.running:
                standing, _tick, *_ = state_of(receive(connection)[1])
    assert standing is Standing.failed and found["report"].failed and "stopped at t = 0.05" in found["report"].reason


def test_a_terminal_event_ends_it():
    sim = made(events=gs.When(lambda craft, t, q, v: t - 0.052, "enough", terminal=True))
    with served(sim, 100) as (address, found):
        connection, _ = connected(address)
        with connection:
            standing = Standing.running
            while standing is Standing.running:
                standing, _tick, _, t, *_ = state_of(receive(connection)[1])
            assert not select.select([connection], [], [], 5)[2]
    assert standing is Standing.ended and t == pytest.approx(0.052) and found["report"].reason == "event 'enough'"


def test_it_listens_on_this_machine_alone_and_steps_one_run():
    with Server(made(), DT) as server:
        assert server.address[0] == "127.0.0.1"
        report = server.serve(5, lambda: True)
    assert report.ticks == 0 and report.reason == "it was told to"
    craft, q, v = manoeuvre.start()
    sim = gs.Simulation(craft, runs=2)
    sim.reset(q, v)
    with pytest.raises(ValueError, match="steps one run"):
        Server(sim, DT)
