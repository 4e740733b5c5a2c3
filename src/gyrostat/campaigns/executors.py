"""Who makes the blocks: this process on all its cores, or whatever can be given work: `submit(f, *args)`."""

from __future__ import annotations

import importlib
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

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
    waiting: deque[Any] = deque()
    rest = iter(todo)
    try:
        while True:
            while len(waiting) < AHEAD and (next_one := next(rest, None)) is not None:
                waiting.append(_submitted(executor, plan, *next_one))
            if not waiting:
                return
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _submitted(executor: Any, plan: Plan, start: int, stop: int) -> Any:
    if type(executor).__module__.startswith("distributed"):
        return executor.submit(_block, plan, start, stop, pure=False)
    return executor.submit(_block, plan, start, stop)


def _block(plan: Plan, start: int, stop: int) -> Block:
    return plan.block(start, stop)


@contextmanager
def executor_of(given: Any) -> Iterator[Any]:
    """ "dask": a cluster of this machine's cores; "dask:ADDRESS": the scheduler there."""
    if not isinstance(given, str):
        yield given
        return
    kind, _, address = given.partition(":")
    if kind != "dask":
        raise ValueError(f'executor is {given!r}; expected None, "dask", "dask:tcp://HOST:PORT", or what has submit().')
    try:
        distributed = importlib.import_module("distributed")
    except ImportError as error:
        raise ImportError(
            "Dask is not installed, and this executor needs it: pip install 'gyrostat[cluster]'.", name="distributed"
        ) from error
    with distributed.Client(address or None, **({} if address else {"threads_per_worker": 1})) as client:
        yield client
