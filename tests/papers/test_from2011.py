"""The demonstrations of From, Pettersen & Gravdahl (2011): the printed equations fail in them."""

from __future__ import annotations

from gyrostat.papers.from2011 import tumbling
from gyrostat.papers.from2011.as_printed import printed_forward_dynamics
from gyrostat.papers.from2011.checks import conserved


def test_checks_can_fail():
    """The run with (26) as printed does not conserve what the checks ask for."""
    printed = tumbling.tumble(*tumbling.start_of_tumble(1.5), printed_forward_dynamics)
    assert not any(check.passed for check in conserved("printed", printed))
