"""gyrostat: how spacecraft that carry arms, wheels and each other move.

`__all__` is what a user needs day by day; the rest is in the rooms `gs.control`, `gs.environment`, `gs.constraints` ...
docs/api.md lists both.
"""

import sys as _sys
import typing as _typing
from importlib import import_module as _import_module

if _typing.TYPE_CHECKING:
    from . import algebra as algebra
    from . import attitude as attitude
    from . import campaigns as campaigns
    from . import constraints as constraints
    from . import control as control
    from . import environment as environment
    from . import export as export
    from . import formation as formation
    from . import formulations as formulations
    from . import io as io
    from . import kinematics as kinematics
    from . import linear as linear
    from . import model as model
    from . import models as models
    from . import outcomes as outcomes
    from . import scenario as scenario
    from . import serving as serving
    from . import simulation as simulation
    from . import tracing as tracing
    from . import workspace as workspace
    from .campaigns import campaign as campaign
    from .control.controller import Controller as Controller
    from .control.controller import joint_torques as joint_torques
    from .control.passive import Actuators as Actuators
    from .control.passive import Stops as Stops
    from .environment import Environment as Environment
    from .environment import Orbit as Orbit
    from .formation import Coupling as Coupling
    from .formation import Formation as Formation
    from .formation import FormationTrajectory as FormationTrajectory
    from .formation import Group as Group
    from .formulations.generalized_jacobian import base_velocity_from_momentum as base_velocity_from_momentum
    from .formulations.generalized_jacobian import generalized_inertia as generalized_inertia
    from .formulations.generalized_jacobian import generalized_jacobian as generalized_jacobian
    from .formulations.generalized_jacobian import generalized_jacobian_rate as generalized_jacobian_rate
    from .formulations.recursive import bias_force as bias_force
    from .formulations.recursive import coriolis_matrix as coriolis_matrix
    from .formulations.recursive import forward_dynamics as forward_dynamics
    from .formulations.recursive import hybrid_dynamics as hybrid_dynamics
    from .formulations.recursive import inverse_dynamics as inverse_dynamics
    from .formulations.recursive import kinetic_energy as kinetic_energy
    from .formulations.recursive import mass_matrix as mass_matrix
    from .formulations.recursive import momentum as momentum
    from .formulations.recursive import reaction_wrenches as reaction_wrenches
    from .io import check as check
    from .io import load as load
    from .io import load_formation as load_formation
    from .io import save as save
    from .kinematics import center_of_mass as center_of_mass
    from .kinematics import configuration_difference as configuration_difference
    from .kinematics import configuration_rate as configuration_rate
    from .kinematics import forward_kinematics as forward_kinematics
    from .kinematics import frame_pose as frame_pose
    from .kinematics import jacobian as jacobian
    from .kinematics import jacobian_rate as jacobian_rate
    from .kinematics import neutral as neutral
    from .kinematics import step_configuration as step_configuration
    from .kinematics import total_mass as total_mass
    from .linear import equilibrium as equilibrium
    from .linear import linearize as linearize
    from .linear import modes as modes
    from .model import Body as Body
    from .model import DHLink as DHLink
    from .model import FlexibleBody as FlexibleBody
    from .model import Frame as Frame
    from .model import Joint as Joint
    from .model import Limits as Limits
    from .model import ModelError as ModelError
    from .model import Node as Node
    from .model import Role as Role
    from .model import Shape as Shape
    from .model import Spacecraft as Spacecraft
    from .model import Thruster as Thruster
    from .model import Wheel as Wheel
    from .model.assembly import attach as attach
    from .model.assembly import joined_state as joined_state
    from .model.assembly import together as together
    from .model.assembly import transfer_state as transfer_state
    from .simulation import Simulation as Simulation
    from .simulation import SimulationWarning as SimulationWarning
    from .simulation import Trajectory as Trajectory
    from .simulation import When as When
    from .simulation import simulate as simulate
    from .simulation.phase import Phase as Phase
    from .simulation.phases import simulate_phases as simulate_phases
    from .simulation.rollouts.rollout import rollout as rollout
    from .structures import beam as beam
    from .structures import plate as plate
    from .structures import truss_boom as truss_boom
    from .tracing import TraceError as TraceError
    from .tracing import compile as compile
    from .tracing import interp as interp
    from .tracing import jacobian_of as jacobian_of
    from .verification import verify as verify
    from .view.report import write_report as write_report

__version__ = "0.2.0"

# Everything is imported when first used, so that `import gyrostat` is quick and needs nothing that is not used.
_NAMES = {
    "": (
        "algebra attitude campaigns constraints control environment export formation formulations io "
        "kinematics linear model models outcomes scenario serving simulation tracing workspace"
    ),
    "campaigns": "campaign",
    "control.controller": "Controller joint_torques",
    "control.passive": "Actuators Stops",
    "environment": "Environment Orbit",
    "formation": "Coupling Formation FormationTrajectory Group",
    "formulations.generalized_jacobian": (
        "base_velocity_from_momentum generalized_inertia generalized_jacobian generalized_jacobian_rate"
    ),
    "formulations.recursive": (
        "bias_force coriolis_matrix forward_dynamics hybrid_dynamics inverse_dynamics kinetic_energy "
        "mass_matrix momentum reaction_wrenches"
    ),
    "kinematics": (
        "center_of_mass configuration_difference configuration_rate forward_kinematics frame_pose jacobian "
        "jacobian_rate neutral step_configuration total_mass"
    ),
    "io": "check load load_formation save",
    "linear": "equilibrium linearize modes",
    "model": "Body DHLink FlexibleBody Frame Joint Limits ModelError Node Role Shape Spacecraft Thruster Wheel",
    "structures": "beam plate truss_boom",
    "model.assembly": "attach joined_state together transfer_state",
    "simulation": "Simulation SimulationWarning Trajectory When simulate",
    "simulation.phase": "Phase",
    "simulation.phases": "simulate_phases",
    "simulation.rollouts.rollout": "rollout",
    "tracing": "TraceError compile interp jacobian_of",
    "verification": "verify",
    "view.report": "write_report",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = list(_HOME)


def __getattr__(name: str) -> _typing.Any:
    if name not in _HOME:
        raise AttributeError(f"gyrostat has no attribute '{name}'.", name=name, obj=_sys.modules[__name__])
    home = _HOME[name]
    value = getattr(_import_module(f".{home}", __name__), name) if home else _import_module(f".{name}", __name__)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
