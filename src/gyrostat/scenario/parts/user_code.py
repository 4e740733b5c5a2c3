"""`python = "my_laws.py:law"`: a function in a file beside the scenario. Code: it runs for those who trust it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

from pydantic import Field

from ...io.toml.source import Source
from ...io.toml.tables import Name
from ...io.toml.text import Place
from ...model import nearest
from ...model.names import printable

Python = Annotated[Name | None, Field(default=None, description='A function of yours beside the file: "my.py:name".')]


def user_function(source: Source, place: Place, text: str) -> Any:
    """What the file defines under that name; None where there is none or it may not run, which goes to the source's
    report.
    """
    file, _, name = text.rpartition(":")
    folder = Path(source.file).parent
    path = folder / file
    inside = path.resolve().is_relative_to(folder.resolve())
    if not name.isidentifier() or path.suffix != ".py" or Path(file).is_absolute() or not inside:
        found = f"is '{text}'; expected a Python file beside this one and a name in it."
        source.error("python", place, f"python {found}", 'Such as "my_laws.py:law".', "python")
        return None
    if not path.is_file():
        source.error("python", place, f"the file '{file}' does not exist beside this one.", "", "python")
        return None
    if not source.trust:
        source.error(
            "untrusted",
            place,
            f"'{text}' is Python: it runs as code and can do whatever you can on this machine.",
            "If you trust the file: trust=True in Python, --trust on the command line.",
            "python",
        )
        return None
    module = _module(source, place, path)
    if module is not None and not hasattr(module, name):
        known = [key for key in vars(module) if not key.startswith("_")]
        source.error("python", place, f"'{file}' defines no '{name}'.", nearest(name, known), "python")
    return getattr(module, name, None)


def _module(source: Source, place: Place, path: Path) -> ModuleType | None:
    """Each file runs once for a scenario, whatever names it."""
    if path not in source.loaded:
        spec = importlib.util.spec_from_file_location(f"gyrostat_scenario_{path.stem}", path)
        module = None
        if spec is not None and spec.loader is not None:
            module = importlib.util.module_from_spec(spec)
            try:
                spec.loader.exec_module(module)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it raises is the file's own
                found = printable(f"'{path.name}' cannot be run: {type(error).__name__}: {error}").rstrip(".")
                source.error("python", place, f"{found}.", "", "python")
                module = None
        source.loaded[path] = module
    found_module: ModuleType | None = source.loaded[path]
    return found_module
