"""Who makes the blocks: this process on all its cores, or whatever can be given work: `submit(f, *args)`."""

from __future__ import annotations

import importlib
import pickle
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from ..tracing.machine import host, identity
from .plan import Block, Plan

AHEAD = 64  # blocks given away and not back yet


def made(plan: Plan, todo: Sequence[tuple[int, int]], executor: Any) -> Iterator[Block]:
    """The blocks, in their order."""
    if executor is None:
        for start, stop in todo:
            yield plan.block(start, stop)
        return
    if not hasattr(executor, "submit"):
        raise TypeError(f'executor is {executor!r:.60}; expected None, "dask", or what has submit(f, *args).')
    submit = _submitter(executor, plan)
    waiting: deque[Any] = deque()
    rest = iter(todo)
    try:
        while True:
            while len(waiting) < AHEAD and (next_one := next(rest, None)) is not None:
                waiting.append(submit(*next_one))
            if not waiting:
                return
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _submitter(executor: Any, plan: Plan) -> Any:
    """(start, stop) -> future. To a cluster the plan goes as bytes, so that a worker reads and compiles it once."""
    if not type(executor).__module__.startswith("distributed"):
        return lambda start, stop: executor.submit(_block, plan, start, stop)
    text, here = importlib.import_module("cloudpickle").dumps(plan), identity()
    return lambda start, stop: executor.submit(_block_there, text, here, start, stop, pure=False)


def _block(plan: Plan, start: int, stop: int) -> Block:
    return plan.block(start, stop)


def _block_there(text: bytes, machine: str, start: int, stop: int) -> Block:
    """In a worker of a cluster, which must be a machine like the one that asks: others round in another order."""
    if machine != identity():
        raise ValueError(
            f"a worker of the cluster runs on '{host()[0]}', and this campaign was begun on "
            f"'{machine.splitlines()[0]}': its runs would differ in their last bits. Use workers of one kind."
        )
    return _read(text).block(start, stop)


@lru_cache(maxsize=4)
def _read(text: bytes) -> Plan:
    plan: Plan = pickle.loads(text)  # from the process that this worker works for
    return plan


@contextmanager
def executor_of(given: Any) -> Iterator[Any]:
    """ "dask": a cluster of this machine's cores; "dask:ADDRESS": the scheduler there."""
    if not isinstance(given, str):
        yield given
        return
    kind, _, address = given.partition(":")
    if kind != "dask":
        raise ValueError(
            f'executor is {given!r}; expected None, "cuda", "dask", "dask:tcp://HOST:PORT", or what has submit().'
        )
    try:
        distributed = importlib.import_module("distributed")
    except ImportError as error:
        raise ImportError(
            "Dask is not installed, and this executor needs it: pip install 'gyrostat[cluster]'.", name="distributed"
        ) from error
    try:
        client = distributed.Client(address or None, **({} if address else {"threads_per_worker": 1}))
    except (OSError, ValueError) as error:
        raise ValueError(f"executor {given!r}: there is no scheduler that answers: {error}") from None
    with client:
        yield client
