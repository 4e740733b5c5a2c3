"""What From, Pettersen & Gravdahl (2011) state, shown in runs. The paper has no numerical example."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..checks import Reproduction
from ..panels import write
from .as_printed import printed_forward_dynamics
from .checks import equation_checks, equivalence_checks, printed_checks, tumble_checks
from .equivalence import side_by_side
from .figures import equivalence_figure, printed_figure, tumble_figure
from .tumbling import start_of_tumble, tumble, tumble_in_rpy

ASSUMPTIONS = [
    "The paper has no numerical example: craft, states and torques are ours.",
    "Twists are angular first here and linear first in the paper; equations are those of docs/errata/from2011.md.",
]
REMARKS = [
    "Agrees: no singularity on SE(3) x R^n; the equivalent manipulator moves as the craft does, at any momentum.",
    "Does not agree: (7), (22), (26), (28), (31), (39), (40) as printed are wrong; see docs/errata/from2011.md.",
]


def reproduce(out_dir: str | Path) -> Reproduction:
    """Three figures as PNG in `out_dir`, and the table of checks."""
    starts = {sign: start_of_tumble(sign * np.pi / 2) for sign in (1, -1)}
    group = {sign: tumble(*start) for sign, start in starts.items()}
    euler = {sign: tumble_in_rpy(*start) for sign, start in starts.items()}
    printed = tumble(*starts[1], printed_forward_dynamics)
    runs = side_by_side()
    drawn = {
        "tumble": tumble_figure(group, euler),
        "equivalent_manipulator": equivalence_figure(*runs),
        "as_printed": printed_figure(group[1], printed),
    }
    checks = [
        *equation_checks(),
        *tumble_checks(starts, group, euler),
        *equivalence_checks(*runs),
        *printed_checks(group[1], printed),
    ]
    return Reproduction(checks, write(drawn, Path(out_dir), "from2011"), ASSUMPTIONS, REMARKS)
