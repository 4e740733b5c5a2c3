"""Both studies of Wilde et al. (2018), and what the paper leaves open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..checks import Check, Reproduction
from ..panels import write
from .checks import planar_checks, spatial_checks
from .experiment import manoeuvre, run
from .figures import momentum_figure, motion_figure
from .tables import craft_checks, manoeuvre_checks, mode_checks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ASSUMPTIONS = [
    (
        "Planar: the arm mounts at (0.1, 0, 0) m of the base, half its length; the paper does not say where. Mounted "
        "at the centre of mass instead, the base's largest rate is 0.135 rad/s, not 0.128, and its largest excursion "
        "in x 49 mm, not 57 mm."
    ),
    (
        "Spatial: the arm mounts at (1.75, 0, 0) m, half the base's length, joint 1 along +x of the base and x of J_1 "
        "along -z. The text's 'fully extended along x at zero angles' cannot hold with an axis of joint 1 along x "
        "(table 6 turns 90 degrees after link 1)."
    ),
    (
        "Spatial: table 5's moments are taken in the link frames L_i. Link 1's smallest moment is then not along the "
        "link; along the link it would change the end attitude by 5e-8 rad, and the pose on the way by 3e-6 at most."
    ),
    (
        "Spatial: link 1 has length 0.5 m in table 5 but d = 0.25 m in table 6; its moments fit 0.25 m, which is "
        "used. Its centre of mass falls into joint 2 by equation (10); in the middle of the link it would change the "
        "end attitude by 3e-6 rad, and the pose on the way by 2e-4 at most."
    ),
    (
        "The next joint starts as soon as one has ended (every 44 s); the paper does not say. Transients of "
        "neighbours then overlap, so a small net rotation of the base remains; with long pauses the base returns."
    ),
    (
        "The reference acceleration is not fed forward, as in (112). K_P = K_D = 1 is damping 0.5, which neither "
        "(113) nor (114) give."
    ),
    (
        "The paper tabulates no results: what is checked are laws and the words of the text, not its curves, number "
        "by number."
    ),
]


def reproduce(out_dir: str | Path) -> Reproduction:
    """Both studies: figures 5 to 8 as PNG in `out_dir`, and the table of checks."""
    found: list[Check] = mode_checks()
    drawn: dict[str, Figure] = {}
    for case, numbers, check in (("planar", (5, 6), planar_checks), ("spatial", (7, 8), spatial_checks)):
        trajectory = run(case)
        found += [
            *craft_checks(case, trajectory.craft),
            *manoeuvre_checks(case, manoeuvre(case)[1]),
            *check(trajectory),
        ]
        for number, draw in zip(numbers, (motion_figure, momentum_figure), strict=True):
            drawn[f"figure_{number}"] = draw(trajectory, f"figure {number}: {case}")
    return Reproduction(found, write(drawn, Path(out_dir), "wilde2018"), ASSUMPTIONS)
