"""Laws for members of craft put together: each sees its own craft, q and v, and its loads are placed back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..algebra import Array
from ..model import Spacecraft
from .controller import STATE, Controller, call, standing_for


def on(member: str | Mapping[str, Any], law: Any = None) -> Any:
    """The law for one member of craft that `gs.together` put into one model: `on("servicer", law)`.

    Or one law for each of several: `on({"servicer": law, "client": other})`. A law is given the member's own craft
    (with the masses that the model has now), its own q and v, and whatever else it asks for by name; its loads, laid
    out as the member's own v, are placed where they belong, and nothing acts on other members. Laws are functions
    (craft, t, q, v) -> tau or Controllers; the result is the same. Of several, those with memory keep their own; all
    are sampled with one period, or none is.
    """
    laws = _named(member, law)
    if len(laws) == 1:
        name, one = next(iter(laws.items()))
        return _controller(name, one) if isinstance(one, Controller) else _seen_by(name, one, STATE)
    if not any(isinstance(one, Controller) for one in laws.values()):
        return _sum({name: _seen_by(name, one, STATE) for name, one in laws.items()}, STATE)
    return _several(laws)


def _named(member: str | Mapping[str, Any], law: Any) -> dict[str, Any]:
    if isinstance(member, str):
        if law is None:
            raise TypeError(f"control.on('{member}', law): the law is missing.")
        laws = {member: law}
    else:
        if law is not None:
            raise TypeError("control.on takes one member's name and its law, or a mapping {name: law}; not both.")
        laws = dict(member)
    if not laws:
        raise ValueError("control.on({}): no law is given.")
    for name, one in laws.items():
        if not isinstance(one, Controller) and not callable(one):
            raise TypeError(
                f"control.on: the law for '{name}' is {one!r}; expected a function (craft, t, q, v) -> tau or a "
                "Controller."
            )
    return laws


def _seen_by(name: str, function: Callable[..., Any], names: tuple[str, ...], places_load: bool = True) -> Any:
    """The function with the member's state in place of the whole; same signature, so that it asks for the same things
    by name.
    """

    def seen(craft: Spacecraft, t: Any, q: Array, v: Array, *memory: Any, **asked: Any) -> Any:
        member = craft.member(name)
        result = function(member.craft, t, member.q(q), member.v(v), *memory, **asked)
        if not places_load:
            return result
        tau = np.asarray(member.craft.v(result, "tau"))
        if tau.shape != (member.craft.nv,):
            raise ValueError(
                f"the law on '{name}' gives tau of shape {tau.shape}; expected ({member.craft.nv},), as "
                f"{member.craft.name}'s own v."
            )
        return member.place(tau)

    return standing_for(seen, names, (function, len(names)))


def _controller(name: str, law: Controller) -> Controller:
    names = law.given
    advance: dict[str, Any] = {
        key: None if getattr(law, key) is None else _seen_by(name, getattr(law, key), names, places_load=False)
        for key in ("derivative", "update")
    }
    if law.propellant is not None:
        advance["propellant"] = replace(law.propellant, member=name)
    return replace(law, output=_seen_by(name, law.output, names), tells=_told_by(name, law.tells), **advance)


def _told_by(name: str, tells: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """What a member's law tells of its own states, with the member's name."""
    if tells is None:
        return None

    def told(craft: Spacecraft, q: Array, v: Array, z: Array) -> list[Any]:
        member = craft.member(name)
        own_q, own_v = (np.array([of(row) for row in rows]) for of, rows in ((member.q, q), (member.v, v)))
        return [row._replace(name=f"{name}: {row.name}") for row in tells(member.craft, own_q, own_v, z)]

    return told


def _sum(laws: Mapping[str, Callable[..., Any]], names: tuple[str, ...]) -> Callable[..., Array]:
    def control(craft: Spacecraft, t: Any, q: Array, v: Array, **asked: Any) -> Array:
        return sum((call(one, (craft, t, q, v), asked) for one in laws.values()), start=np.zeros(craft.nv))

    return standing_for(control, names, *((one, len(names)) for one in laws.values()))


def _several(laws: Mapping[str, Any]) -> Controller:
    """One Controller whose memory is that of all, one after the other."""
    all_of = {
        name: _controller(name, one if isinstance(one, Controller) else Controller(one)) for name, one in laws.items()
    }
    for name, one in all_of.items():
        if one.propellant is not None:
            raise ValueError(
                f"control.on: the law of '{name}' burns propellant; of several laws none may: fly a formation."
            )
    periods = {name: one.period for name, one in all_of.items()}
    if len(set(periods.values())) > 1:
        said = ", ".join(f"'{name}' {'at all times' if p is None else f'every {p:g} s'}" for name, p in periods.items())
        raise ValueError(
            f"control.on: laws act {said}; laws of one run are sampled with one period, or none is. Give those of one "
            "kind the same period, or sample the others too: gs.Controller(law, period=...)."
        )
    period = next(iter(periods.values()))
    state0 = np.concatenate([one.state0 for one in all_of.values()])
    key = "derivative" if period is None else "update"
    moving = [name for name, one in all_of.items() if one.remembers]
    names = (*STATE, "z") if moving else STATE
    at, end = {}, 0
    for name, one in all_of.items():
        at[name] = slice(end, end + one.state0.size)
        end += one.state0.size

    def own_memory(name: str, memory: tuple[Array, ...]) -> tuple[Array, ...]:
        return (memory[0][at[name]],) if all_of[name].remembers else ()

    def output(craft: Spacecraft, t: Any, q: Array, v: Array, *memory: Array, **asked: Any) -> Array:
        state = (craft, t, q, v)
        loads = (call(one.output, (*state, *own_memory(name, memory)), asked) for name, one in all_of.items())
        return sum(loads, start=np.zeros(craft.nv))

    def advance(craft: Spacecraft, t: Any, q: Array, v: Array, *memory: Array, **asked: Any) -> Array:
        parts = []
        for name in moving:
            function, own = getattr(all_of[name], key), own_memory(name, memory)
            parts.append(own[0] if function is None else np.asarray(call(function, (craft, t, q, v, *own), asked)))
        return np.concatenate(parts)

    standing_for(output, names, *((one.output, len(one.given)) for one in all_of.values()))
    following = [(f, len(one.given)) for one in all_of.values() if (f := getattr(one, key)) is not None]
    if following:
        standing_for(advance, names, *following)
    remembered: dict[str, Any] = {key: advance} if moving else {}
    pushes = any(one.pushes for one in all_of.values())
    telling = {name: one.tells for name, one in all_of.items() if one.tells is not None}

    def tells(craft: Spacecraft, q: Array, v: Array, z: Array) -> list[Any]:
        return [row for name, own in telling.items() for row in own(craft, q, v, z[:, at[name]])]

    told = tells if telling else None
    return Controller(output, state0, period=period, pushes=pushes, tells=told, **remembered)
