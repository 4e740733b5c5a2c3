"""`gs.campaign`: many dispersed runs, in blocks, with an answer at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..model import nearest
from ..simulation.engine.interruption import one_after_the_other
from ..simulation.engine.progress import progress_bar
from .executors import executor_of, made
from .found import INDEPENDENT, Campaign
from .plan import Plan, plan_of
from .requirements import Judged, Requirement, requirements_given
from .single import is_single
from .store import Folder, Store

BLOCK = 1024
CARD_BLOCK = 131_072  # runs that fill a card several times


def campaign(
    system: Any,
    dispersions: Mapping[Any, Any],
    runs: int,
    *,
    seed: int | None = None,
    outcomes: Any,
    requirements: Any = (),
    q0: Any = None,
    v0: Any = None,
    t_span: Any = None,
    sampling: str = "random",
    executor: Any = None,
    store: str | Path | None = None,
    resume: bool = False,
    shard: tuple[int, int] | None = None,
    stop_when: str | None = None,
    block: int | None = None,
    progress: bool | None = None,
    law_knows: str = "nominal",
    **options: Any,
) -> Campaign:
    """Simulate `runs` dispersed runs of a spacecraft (with options of `gs.simulate`) or of a scenario.

    dispersions: {"link_3.mass": scaled(normal(1.0, 0.05)), "attitude:base": attitude(), ...}, of `gs.campaigns`; what
        may be dispersed is in `gyrostat.campaigns.targets`. Run k depends on the seed and on k, on nothing else.
    outcomes: {name: outcome of `gs.outcomes`}, all that is kept of a run. requirements: `require(...)`, or sentences
        such as "pointing < 0.5 deg in 99.7 % of runs, with 95 % confidence".
    sampling: "random", "latin" (hypercube), "sobol" (sequence), "saltelli" (groups of runs for Sobol indices).
    executor: None for all cores of this machine; "cuda" for its card; "dask", "dask:ADDRESS"; or what has
        `submit(f, *args)`. Several cards: device="cuda" and a Dask cluster with one process for each. block: runs in
        one piece of work, 1024; on a card 131 072.
    store: a folder; each block of runs is a file there, whole or not at all. resume: make only what is missing in it,
        also where more runs are asked for than before. shard: (i, n), the i-th of n parts, of a job array.
    stop_when="decided": end when every requirement is met or one is not. Looked at after 1, 2, 4 ... blocks, each time
        with a part of the confidence, so that the answer is worth what it says.
    law_knows: of dispersed parameters of the model, "nominal": the control law is given the craft as it is meant to be;
        or "truth": each run's own.
    """
    plan = plan_of(
        system,
        dispersions,
        runs,
        seed=seed,
        sampling=sampling,
        outcomes=outcomes,
        t_span=t_span,
        q0=q0,
        v0=v0,
        options=options,
        law_knows=law_knows,
    )
    return run_plan(
        plan,
        requirements=requirements,
        executor=executor,
        store=store,
        resume=resume,
        shard=shard,
        stop_when=stop_when,
        block=block,
        progress=progress,
    )


def run_plan(
    plan: Plan,
    *,
    requirements: Any = (),
    executor: Any = None,
    store: str | Path | None = None,
    resume: bool = False,
    shard: tuple[int, int] | None = None,
    stop_when: str | None = None,
    block: int | None = None,
    progress: bool | None = None,
) -> Campaign:
    """As `campaign`, of a plan that was made before."""
    asked = requirements_given(requirements)
    if isinstance(executor, str) and executor == "cuda":
        plan, executor = replace(plan, options={**plan.options, "device": "cuda"}), None
    if block is None:
        block = CARD_BLOCK if plan.options.get("device") else BLOCK
    _must_fit(plan, asked, stop_when, shard, store, resume, block)
    place = Store() if store is None else Folder(store, plan, block, resume)
    starts = list(range(0, plan.runs, block))
    mine = starts if shard is None else starts[shard[0] - 1 :: shard[1]]
    title = f"{plan.craft.name}: campaign"
    missing = sum(min(start + block, plan.runs) - start for start in mine if not _there(plan, place, start, block))
    watched = progress_bar(progress, title, missing, "runs")
    confidences: tuple[float, ...] = ()
    with place.mine(shard), executor_of(executor) as workers, one_after_the_other(), watched as bar:
        tell = None if bar is None else _Told(bar, missing)
        if stop_when is None:
            _make(plan, place, mine, block, workers, tell)
        else:
            starts, confidences = _until_decided(plan, place, starts, block, workers, tell, asked)
        if is_single(plan) and 0 in mine:
            _make_in_double(plan, place, block)
    there = [start for start in starts if _there(plan, place, start, block)]
    return Campaign(plan, place, there, asked, confidences)


def _there(plan: Plan, place: Store, start: int, block: int) -> bool:
    return place.have(start) == min(start + block, plan.runs)


def _make_in_double(plan: Plan, place: Store, block: int) -> None:
    """The first block, to be compared with."""
    stop, found = min(block, plan.runs), place.in_double
    if found is None or found.stop != stop:
        place.write_in_double(plan.in_double.block(0, stop))


class _Told:
    """How many runs were made, of those that were missing."""

    def __init__(self, bar: Any, missing: int) -> None:
        self._bar, self._missing, self._made = bar, missing, 0

    def __call__(self, runs: int) -> None:
        self._made += runs
        self._bar(self._made / self._missing)


def _make(plan: Plan, place: Store, starts: list[int], block: int, workers: Any, tell: _Told | None) -> None:
    todo = [(start, min(start + block, plan.runs)) for start in starts if not _there(plan, place, start, block)]
    for made_one in made(plan, todo, workers):
        place.write(made_one)
        if tell is not None:
            tell(made_one.stop - made_one.start)


def _until_decided(
    plan: Plan, place: Store, starts: list[int], block: int, workers: Any, tell: Any, asked: tuple[Requirement, ...]
) -> tuple[list[int], tuple[float, ...]]:
    """The blocks it took, and the confidence of the last look at each requirement.

    Look j has a part 1 / (j (j + 1)) of the risk; the parts add up to all of it.
    """
    count, j = 1, 1
    while True:
        taken = starts[:count]
        _make(plan, place, taken, block, workers, tell)
        confidences = tuple(1.0 - (1.0 - one.confidence) / (j * (j + 1)) for one in asked)
        judged = [verdict.judged for verdict in Campaign(plan, place, taken, asked, confidences).verdicts]
        if Judged.not_met in judged or Judged.open not in judged or count >= len(starts):
            return taken, confidences
        count, j = min(2 * count, len(starts)), j + 1


def _must_fit(
    plan: Plan,
    asked: tuple[Requirement, ...],
    stop_when: str | None,
    shard: tuple[int, int] | None,
    store: Any,
    resume: bool,
    block: int,
) -> None:
    names = [one.name for one in plan.outcomes]
    for one in asked:
        if one.outcome not in names:
            raise ValueError(f"requirement '{one}': there is no outcome '{one.outcome}'. {nearest(one.outcome, names)}")
    if asked and plan.sampling not in INDEPENDENT:
        raise ValueError(
            f'requirements are judged by independent runs, and sampling="{plan.sampling}" makes others: use "random".'
        )
    if stop_when not in (None, "decided"):
        raise ValueError(f'stop_when is {stop_when!r}; expected None or "decided".')
    if stop_when is not None and (not asked or shard is not None):
        raise ValueError('stop_when="decided" needs requirements, and all blocks: no shard.')
    if shard is not None and not 1 <= shard[0] <= shard[1]:
        raise ValueError(f"shard is {shard}; expected (i, n) with 1 <= i <= n.")
    if store is None and (shard is not None or resume):
        raise ValueError("shards and resume need a store: store=folder.")
    if block < 1:
        raise ValueError(f"block is {block}; expected at least one run.")
