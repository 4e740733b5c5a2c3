"""The demonstrations of From, Pettersen & Gravdahl (2011) hold, and the printed equations fail in them."""

from __future__ import annotations

import pytest

from gyrostat.papers import from2011


@pytest.fixture(scope="module")
def reproduction(tmp_path_factory):
    return from2011.reproduce(tmp_path_factory.mktemp("from2011"))


def test_every_check_passes(reproduction):
    failed = [
        f"{check.name}: {check.measured}, required {check.required}"
        for check in reproduction.checks
        if not check.passed
    ]
    assert not failed
    assert len(reproduction.checks) >= 20


def test_figures_are_pictures(reproduction):
    assert [path.name for path in reproduction.figures] == [
        "from2011_tumble.png",
        "from2011_equivalent_manipulator.png",
        "from2011_as_printed.png",
    ]
    assert all(
        path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 20_000 for path in reproduction.figures
    )


def test_checks_can_fail():
    """The run with (26) as printed does not conserve what the checks ask for."""
    from gyrostat.papers.from2011_checks import _conserved

    printed = from2011.tumble(*from2011.start_of_tumble(1.5), from2011.printed_forward_dynamics)
    assert not any(check.passed for check in _conserved("printed", printed))
