"""Every key of every table of every kind of scenario file is refused when misspelt, with the nearest name."""

from __future__ import annotations

import pytest

from gyrostat import scenario
from gyrostat.campaigns.in_files import DISTRIBUTIONS
from gyrostat.control.laws_in_files import LAWS
from gyrostat.model import ModelError
from gyrostat.scenario.entry_tables import entry_table
from gyrostat.scenario.kinds import KINDS
from gyrostat.scenario.parts.law import Control

BASE = {
    (): 'spacecraft = "servicer"\n',
    ("phase",): 'spacecraft = "servicer"\n',
    ("member",): "",
}


def cases():
    """Every table; where a key chooses one of several (laws, distributions), each of them with its line."""
    for kind in KINDS:
        for path, table in kind.tables.items():
            several = {"control": LAWS, "disperse": DISTRIBUTIONS}.get(path[-1] if path else "")
            found = [(table, "")] if several is None else [
                (entry_table(several, entry), f'{several.tag} = "{entry.name}"') for entry in several.values()
            ]  # fmt: skip
            if several is LAWS:
                found = [*found, (Control, "")] if len(path) == 1 else [(Control, "")]
            for one, line in found:
                name = f"{'.'.join(kind.marks[:1]) or 'one'}: {'.'.join(path) or 'top'} {line}"
                yield pytest.param(kind, path, one, line, id=name)


def misspelt(name: str, known: set[str]) -> str:
    """The name with a letter too many, which is no other key."""
    return next(wrong for wrong in (f"{name}x", f"{name}q", f"{name}zz") if wrong not in known)


def headers(kind, path):
    """As TOML opens the table: [[...]] for each one of several on the way, and for itself."""
    found = []
    for k in range(1, len(path) + 1):
        several = "list[" in str(kind.tables[path[: k - 1]].model_fields[path[k - 1]].annotation)
        if several or k == len(path):
            found.append(f"[[{'.'.join(path[:k])}]]" if several else f"[{'.'.join(path[:k])}]")
    text = "\n".join(found) + "\n"
    return text.replace("phase.of", "phase.of.client")  # whose, in between


@pytest.mark.parametrize(("kind", "path", "table", "line"), list(cases()))
def test_it_is_refused_at_its_line_with_the_nearest_name(tmp_path, kind, path, table, line):
    known = set(table.model_fields)
    tag = line.partition(" ")[0]
    keys = {misspelt(name, known): name for name in sorted(known - {tag}) if len(name) > 2}
    lines = [f"{wrong} = 1" for wrong in keys]
    head = BASE[kind.marks[:1]]
    if path:
        text = head + "".join(f"[[{mark}]]\n" for mark in kind.marks[:1] if path[:1] != (mark,))
        text += headers(kind, path) + "\n".join([*lines, line]) + "\n"
    else:
        text = head + "\n".join(lines) + "\n" + "".join(f"[[{mark}]]\n" for mark in kind.marks[:1])
    file = tmp_path / "case.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        scenario.load(file)
    said = {wrong: [f for f in caught.value.findings if f.code == "unknown-key" and f"'{wrong}'" in f.message]
            for wrong in keys}  # fmt: skip
    for wrong, name in keys.items():
        assert len(said[wrong]) == 1, (wrong, [str(f) for f in caught.value.findings])
        (finding,) = said[wrong]
        assert text.splitlines()[finding.line - 1] == f"{wrong} = 1"
        assert f"'{name}'" in finding.hint, (wrong, finding.hint)
