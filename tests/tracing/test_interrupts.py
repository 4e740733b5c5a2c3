"""Ctrl-C and other interruptions of shared work: nothing writes into the caller's arrays once the call has ended.

Signals are real and sent to a process of its own. Nothing waits for a time: every wait is for a byte in a pipe,
or for a thread.
"""

import os
import select
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from llvmlite.binding import ffi

from gyrostat import tracing
from gyrostat.tracing import kernel as kernels
from gyrostat.tracing import machine, pool

needs_posix = pytest.mark.skipif(os.name == "nt", reason="sends signals of POSIX")
USER = getattr(signal, "SIGUSR1", signal.SIGTERM)

SHARES = """
import os, signal, sys, threading
from gyrostat.tracing import machine, pool

pool.cores = lambda: 4  # three helpers, wherever this runs
say, hear, who = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)

def heard(number, frame):
    os.write(say, b"h")
    if number == signal.SIGINT:
        signal.default_int_handler(number, frame)
    raise SystemExit(f"signal {number}")

def where(number, frame):
    stack = []
    while frame is not None:
        stack.append(frame.f_code)
        frame = frame.f_back
    os.write(say, b"n" if heard.__code__ in stack else b"i" if pool.run.__code__ in stack else b"o")

for number in HEARD:
    signal.signal(number, heard)
signal.signal(signal.SIGUSR2, where)
begun, ended, first = [], [], threading.Lock()
there = {"calling": threading.Event(), "another": threading.Event()}

def share(k):
    begun.append(k)
    kind = "calling" if threading.current_thread() is threading.main_thread() else "another"
    there[kind].set()
    there[who].wait()  # else the others might do it all
    if kind == who and first.acquire(blocking=False):
        os.write(say, b"b")
        os.read(hear, 1)
    ended.append(k)

try:
    pool.run(share, 4)
except BaseException as error:
    missing = len(begun) - len(ended)
    os.read(hear, 1)  # whoever is still at work has been told to go on
    print(type(error).__name__, missing, [signal.getsignal(n) is heard for n in HEARD].count(True), flush=True)
os._exit(0)
"""


@needs_posix
@pytest.mark.parametrize(
    ("signals", "thread"),
    [
        ([signal.SIGINT], "calling"),
        ([signal.SIGINT], "another"),
        ([signal.SIGINT, signal.SIGINT], "calling"),
        ([signal.SIGINT, signal.SIGINT], "another"),
        ([signal.SIGINT] * 5, "another"),
        ([signal.SIGTERM, signal.SIGINT], "calling"),
        ([signal.SIGTERM, signal.SIGINT], "another"),
        ([USER, signal.SIGINT, USER], "another"),  # raises within the waiting itself
    ],
    ids=lambda x: x if isinstance(x, str) else "-".join(s.name for s in x),
)
def test_a_call_does_not_end_before_its_last_share(signals, thread):
    from_child, say = os.pipe()
    hear, to_child = os.pipe()
    command = [sys.executable, "-c", SHARES, str(say), str(hear), thread]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, pass_fds=(say, hear))
    os.close(say)
    os.close(hear)
    try:
        assert os.read(from_child, 1) == b"b"
        for number in signals:
            assert _answer(child, from_child, number, b"h") == b"h"
            place = b"n"
            while place == b"n":  # still within the handler: ask again, once this question's own handler can have ended
                time.sleep(0.02)
                place = _answer(child, from_child, signal.SIGUSR2, b"nio")
            assert place == b"i", "the call was left while a share was at work"
        os.write(to_child, b"go")
        out, _ = child.communicate()
    finally:
        child.kill()
        os.close(from_child)
        os.close(to_child)
    kind, missing, handlers = out.split()
    assert missing == "0" and handlers == "3"
    assert kind in {"KeyboardInterrupt" if number == signal.SIGINT else "SystemExit" for number in signals}


def _answer(child, pipe, number, words):
    """What the child says to a signal.

    It is sent again if Python noticed it too late: just before it began to wait for a lock.
    """
    while True:
        child.send_signal(number)
        while select.select([pipe], [], [], 0.5)[0]:
            word = os.read(pipe, 1)
            if word in words:  # nothing at all: it has ended
                return word


KERNEL = """
import os, signal, sys, threading
import numpy as np
import gyrostat as gs
from gyrostat.tracing import machine, pool

craft = gs.load("servicer")
kernel = gs.compile(gs.forward_dynamics, craft, threads=8)
rows = 200_000
q, v, tau = (np.tile(x, (rows, 1)) for x in (gs.neutral(craft), np.full(craft.nv, 0.1), np.zeros(craft.nv)))
SENTINEL = 7.0

def kick(out, twice):
    # The call is under way as soon as any number has changed; another thread sees that without waiting for a time.
    while (out[::1000] == SENTINEL).all() and not over.is_set():
        pass
    for _ in range(1 + twice):
        os.kill(os.getpid(), signal.SIGINT)

def all_threads_at_rest():
    workers = max(pool.cores() - 1, 1)
    together = threading.Barrier(workers)
    for done in [pool._executor(os.getpid()).submit(together.wait) for _ in range(workers)]:
        done.result()

interrupted = overwritten = 0
for trial in range(40):
    out, over = np.full((rows, craft.nv), SENTINEL), threading.Event()
    kicker = threading.Thread(target=kick, args=(out, trial % 2))
    within = False
    try:
        kicker.start()
        kernel(q, v, tau, out=out)
        over.set()
        kicker.join()
    except KeyboardInterrupt:
        within = not over.is_set()
        over.set()
    while kicker.is_alive():
        try:
            kicker.join()
        except KeyboardInterrupt:  # the second one, or one that came after the call
            pass
    if within:
        out[:] = SENTINEL  # the caller's own buffer, used again
        all_threads_at_rest()
        interrupted += 1
        overwritten += bool((out != SENTINEL).any())
    if interrupted == 6:
        break
print("interrupted", interrupted, "overwritten", overwritten)
"""


@needs_posix
def test_an_interrupted_batch_writes_nothing_more():
    done = subprocess.run([sys.executable, "-c", KERNEL], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    words = done.stdout.split()
    assert int(words[1]) > 0 and words[3] == "0", done.stdout


def test_an_error_in_one_share_waits_for_the_others():
    """It is raised in a helper's share while another is still at work, which goes on only when it has been told of."""
    told, ended = threading.Event(), []

    def share(k):
        if k == 1:
            raise ZeroDivisionError("share 1")
        if k == 0:
            told.wait()
            ended.append(k)

    with pytest.raises(ZeroDivisionError, match="share 1"):
        pool.run(share, 2, failed=lambda error: told.set())
    assert ended == [0]


def test_shares_that_have_not_begun_are_left_out_after_an_error():
    begun = []

    def share(k):
        begun.append(k)
        raise ZeroDivisionError(k)

    with pytest.raises(ZeroDivisionError):
        pool.run(share, 1000, threads=2)
    assert len(begun) <= 2


def test_work_within_work_ends():
    """A helper that itself shares work does it alone if all others are taken."""
    done = []
    pool.run(lambda k: pool.run(lambda j: done.append((k, j)), 4), 4)
    assert sorted(done) == [(k, j) for k in range(4) for j in range(4)]


@needs_posix
def test_where_no_thread_can_be_started_the_calling_one_does_it_all():
    code = """
import resource, threading
import numpy as np
from gyrostat import tracing
from gyrostat.tracing import kernel, pool
kernel._WORTH_A_THREAD = 1
compiled = tracing.compile(lambda x: x**3 + 1, None, inputs={"x": ()}, threads=4)
threading.stack_size(2**30)
soft, hard = resource.getrlimit(resource.RLIMIT_AS)
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + 2**28, hard))
x = np.arange(1000.0)
assert np.array_equal(compiled(x), x * x * x + 1)  # NumPy rounds x**3 in its own way
resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
print("alone", len(threading.enumerate()))
"""
    if not os.path.exists("/proc/self/statm"):
        pytest.skip("the limit of memory is set from what /proc says is used")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["alone", "1"], done.stderr


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_shares_of_any_size_give_the_same_bits(threads, monkeypatch):
    """However often Ctrl-C is looked for."""
    x = np.linspace(-3, 3, 1003)
    whole = tracing.compile(lambda x: np.array([x**3 + 1, x / 7]), None, inputs={"x": ()}, threads=1)(x)
    for look in (1, 37, 5000):
        monkeypatch.setattr(kernels, "_WORTH_A_THREAD", 10)
        monkeypatch.setattr(kernels, "_WORTH_A_LOOK", look)
        kernel = tracing.compile(lambda x: np.array([x**3 + 1, x / 7]), None, inputs={"x": ()}, threads=threads)
        np.testing.assert_array_equal(kernel(x), whole)


@needs_posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("when", [0, 1])
def test_a_signal_within_llvms_lock_leaves_it_free(number, when):
    """As soon as it is taken, or before it is given back: the next thread that compiled waited for ever."""
    text, sent = "define double @f(double %x) {\n ret double %x\n}\n", []

    def send():
        if threading.current_thread() is threading.main_thread() and not sent:
            sent.append(number)
            os.kill(os.getpid(), number)

    callbacks = (send, lambda: None) if when == 0 else (lambda: None, send)
    before = signal.signal(number, signal.default_int_handler)
    ffi.register_lock_callback(*callbacks)
    try:
        with pytest.raises(KeyboardInterrupt):
            machine.Library(machine.machine_code(text), ["f"])
    finally:
        ffi.unregister_lock_callback(*callbacks)
        signal.signal(number, before)
    assert sent == [number]
    other = threading.Thread(target=machine.machine_code, args=(text,), daemon=True)
    other.start()
    other.join(20.0)
    assert not other.is_alive()
