"""Flexible bodies of a file: made of its tables, or by finite elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algebra import Array
from ...model import FlexibleBody, Joint, Node, Shape
from ...model.parts import inertia_of
from .craft_tables import BodyTable
from .flexible_tables import MOST_MODES, NUMBERS, FlexibleTable, SectionTable
from .source import Source
from .text import Place
from .units import QuantityError

AGREE = 1e-3  # of the whole: by how much mass properties that are given may differ from those of the lumps


def flexible_body(
    source: Source, table: BodyTable, place: Place, joint: Joint, shapes: tuple[Shape, ...]
) -> FlexibleBody | None:
    """The body; None where it is refused, which the source's report then holds."""
    key = table.bending[0]
    try:
        own = getattr(table, key)
        body = _of_table(table.name, own, joint, shapes) if key == "flexible" else _made(key, table, joint, shapes)
    except (ValueError, TypeError) as error:
        code = error.code if isinstance(error, QuantityError) else "flexible"
        source.error(code, (*place, key), str(error).removeprefix(f"flexible body '{table.name}': "))
        return None
    _compared(source, table, place, body)
    return body


def _of_table(name: str, table: FlexibleTable, joint: Joint, shapes: tuple[Shape, ...]) -> FlexibleBody:
    n = np.shape(table.node[0].translations)[-1]
    if n > MOST_MODES:
        raise ValueError(f"{n} modes; at most {MOST_MODES} are read.")
    stacked: dict[str, Any] = {}
    for what, shape in (("translations", (3, n)), ("rotations", (3, n)), ("second_order", (3, n, n))):
        given = [getattr(node, what) for node in table.node]
        if all(one is None for one in given):
            stacked[what] = None
            continue
        for node, one in zip(table.node, given, strict=True):
            if one is not None and one.shape != shape:
                found = " by ".join(map(str, one.shape))
                expected = f"{' by '.join(map(str, shape))} for {n} modes, as the first node has"
                raise QuantityError(
                    "wrong-shape", f"{what} of node '{node.name}' are {found} numbers; expected {expected}."
                )
        stacked[what] = np.array([np.zeros(shape) if one is None else one for one in given])
    return FlexibleBody(
        name,
        [Node(node.name, np.array(node.position), node.mass, np.array(node.inertia)) for node in table.node],
        **stacked,
        **{key: getattr(table, key) for key in ("stiffness", "frequencies", "damping")},
        damping_ratios=_ratios(table.damping_ratios),
        joint=joint,
        rotary=table.rotary,
        terms=table.terms,
        shapes=shapes,
        lines=tuple((a, b) for a, b in table.lines),
        interfaces=tuple(table.interfaces),
    )


def _ratios(given: Array | None) -> Any:
    """One for all modes, or one for each."""
    return given[0] if given is not None and given.shape == (1,) else given


def _made(key: str, table: BodyTable, joint: Joint, shapes: tuple[Shape, ...]) -> FlexibleBody:
    from ... import structures

    own: Any = getattr(table, key)
    values = {name: getattr(own, name) for name in type(own).model_fields}
    options = {"damping_ratios": _ratios(values.pop("damping_ratios")), "joint": joint, "shapes": shapes}
    if key == "beam":
        return structures.beam(table.name, section=_section(values.pop("section")), **values, **options)
    if key == "plate":
        section = structures.PlateSection(**values.pop("section").model_dump())
        stations = values.pop("stations")
        places = None if stations is None else {name: (at[0], at[1]) for name, at in stations.items()}
        elements = tuple(values.pop("elements"))
        return structures.plate(table.name, section=section, stations=places, elements=elements, **values, **options)
    bars: dict[str, Any] = {
        name: structures.Bar(**values.pop(name).model_dump()) for name in ("longeron", "batten", "diagonal")
    }
    return structures.truss_boom(table.name, **bars, **values, **options)


def _section(table: SectionTable) -> Any:
    from ... import structures

    for name in ("tube", "box", "rectangle"):
        own = getattr(table, name)
        if own is not None:
            values = {key: getattr(own, key) for key in type(own).model_fields}
            material = values.pop("material")
            known = getattr(structures, material.upper()) if isinstance(material, str) else None
            return getattr(structures, name)(**values, material=known or structures.Material(**material.model_dump()))
    return structures.Section(**{key: getattr(table, key) for key in NUMBERS if getattr(table, key) is not None})


def _compared(source: Source, table: BodyTable, place: Place, body: FlexibleBody) -> None:
    """Warn where mass, centre of mass or inertia that stand beside the lumps are not theirs."""
    m, h, I_o = body.undeformed
    if not m > 0:
        return
    c = h / m
    about_c = I_o - m * ((c @ c) * np.eye(3) - np.outer(c, c))
    size = float(np.sqrt(np.trace(I_o) / m))
    line = source.line(place)
    for what, given, found, scale, unit in (
        ("mass", table.mass, m, m, "kg"),
        ("com", table.com, c, size, "m"),
        ("inertia", table.inertia, about_c, float(np.trace(about_c)), "kg m^2"),
    ):
        if given is None:
            continue
        said: Any = inertia_of(given, what) if what == "inertia" else np.array(given)
        if np.abs(said - found).max() > AGREE * scale:
            message = f"{what} is {said.tolist()} {unit}, but its lumps have {np.round(found, 9).tolist()} {unit}."
            hint = "Motion follows the lumps. Correct their masses or places, or leave the other out."
            source.report.warning("not-of-the-lumps", f"body '{table.name}'", message, hint, line)
