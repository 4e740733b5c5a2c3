"""What Ploen, Hadaegh & Scharf (2004) print: table 1, as it stands there, and what was built in its place."""

from __future__ import annotations

from ...formulations.spatial_forms.paper.rigid_body import FORMS
from ..checks import Check
from ..tables import Entry, agreement

# Table 1: reference point, vector derivatives
FORMS_PRINTED = {
    1: ("centre of mass", "inertial"),
    2: ("centre of mass", "body"),
    3: ("arbitrary", "inertial"),
    4: ("arbitrary", "body"),
}


def form_checks() -> list[Check]:
    """Table 1 against the four forms."""
    entries = []
    for number, (point, rates) in FORMS_PRINTED.items():
        form = FORMS[number]
        entries += [
            Entry(f"form {number}, reference point", point, "centre of mass" if form.about_com else "arbitrary"),
            Entry(f"form {number}, derivatives", rates, "inertial" if form.inertial_rates else "body"),
        ]
    return [agreement("table 1: the four forms", entries)]
