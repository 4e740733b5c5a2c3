"""Times that commands are given, with units."""

from __future__ import annotations

import typer


def seconds(value: str | None, option: str) -> float | None:
    """Of a time such as "10 min"; None where none is given."""
    from ..io.toml.units import measure

    if value is None:
        return None
    try:
        found = measure(value).of("time")
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None
    if found <= 0:
        raise typer.BadParameter(f"'{value}': expected a time that passes, such as \"10 min\".", param_hint=option)
    return found
