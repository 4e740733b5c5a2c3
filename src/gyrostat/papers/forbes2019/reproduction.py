"""Run everything, draw it, and say what agrees with the lecture and what does not."""

from __future__ import annotations

from pathlib import Path

from ..checks import Reproduction
from ..panels import write
from . import figures
from .checks import (
    capture_checks,
    holding_checks,
    identity_checks,
    nonholonomic_checks,
    printed_checks,
    tumble_checks,
)
from .nonholonomic import disc_run, sleigh_run
from .servicing import MuJoCoDrift, capture_run, two_arm_run, two_arms_in_mujoco

ASSUMPTIONS = [
    "The lecture has no numerical example: bodies, motions and crafts are ours.",
    (
        "Linear before angular in the lecture, angular before linear here; its quaternion is scalar last, ours scalar "
        "first."
    ),
]
REMARKS = [
    (
        "Agrees: with S, Gamma and Xi, Lagrange's equation gives the same dynamics for every parameterisation; the "
        "parameter multipliers drop out, and several bodies with holonomic and nonholonomic constraints follow."
    ),
    (
        "Differs: fifteen slips of the slides, most of them of signs and indices; see docs/errata/forbes2019.md. No "
        "physics is wrong."
    ),
]


def reproduce(out_dir: str | Path) -> Reproduction:
    """All checks, and four figures as PNG in `out_dir`."""
    sleigh, steady, nodding = sleigh_run(), disc_run(), disc_run(spin=-6.0)
    held, theirs, captured = two_arm_run(), _mujoco(), capture_run()
    found = [
        *identity_checks(),
        *tumble_checks(),
        *nonholonomic_checks(sleigh, steady, nodding),
        *holding_checks(held, theirs),
        *capture_checks(captured),
        *printed_checks(),
    ]
    drawn = {
        "tumbling": figures.tumble_figure(),
        "nonholonomic": figures.nonholonomic_figure(sleigh, steady, nodding),
        "two_arms": figures.holding_figure(held, theirs),
        "capture": figures.capture_figure(captured),
    }
    remarks = REMARKS if theirs is not None else [*REMARKS, "MuJoCo is not installed: its weld was not compared."]
    return Reproduction(found, write(drawn, Path(out_dir), "forbes2019"), ASSUMPTIONS, remarks)


def _mujoco() -> MuJoCoDrift | None:
    """None where MuJoCo is not installed."""
    try:
        return two_arms_in_mujoco()
    except ImportError:
        return None
