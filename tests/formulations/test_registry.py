"""What every formulation promises: the same call, so that one stands in for another and checks it."""

from __future__ import annotations

import inspect

import pytest

from gyrostat.formulations.registry import FORMULATIONS, formulation

RECURSIVE = formulation("recursive")


def call_of(function):
    """Names, kinds and defaults of its parameters."""
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


@pytest.mark.parametrize("name", FORMULATIONS)
def test_every_formulation_is_called_alike(name):
    assert call_of(formulation(name).forward_dynamics) == call_of(RECURSIVE.forward_dynamics)
    assert call_of(formulation(name).supports) == call_of(RECURSIVE.supports)


@pytest.mark.parametrize("name", FORMULATIONS)
def test_accelerations_are_derived_by_each_formulation_itself(name):
    """Kinematics and what stands in `common` are shared; the solution is not borrowed from another formulation."""
    own = inspect.getmodule(formulation(name).forward_dynamics).__name__
    assert own.startswith(f"gyrostat.formulations.{name}.")
