"""gyrostat: how spacecraft that carry arms, wheels and each other move."""

from typing import TYPE_CHECKING, Any

from . import algebra as algebra
from .formulations.recursive import bias_force as bias_force
from .formulations.recursive import centroidal_momentum_matrix as centroidal_momentum_matrix
from .formulations.recursive import coriolis_matrix as coriolis_matrix
from .formulations.recursive import forward_dynamics as forward_dynamics
from .formulations.recursive import hybrid_dynamics as hybrid_dynamics
from .formulations.recursive import inertial_parameters as inertial_parameters
from .formulations.recursive import inverse_dynamics as inverse_dynamics
from .formulations.recursive import kinetic_energy as kinetic_energy
from .formulations.recursive import mass_matrix as mass_matrix
from .formulations.recursive import momentum as momentum
from .formulations.recursive import reaction_wrenches as reaction_wrenches
from .formulations.recursive import regressor as regressor
from .kinematics import Poses as Poses
from .kinematics import center_of_mass as center_of_mass
from .kinematics import composite_inertia as composite_inertia
from .kinematics import configuration_difference as configuration_difference
from .kinematics import configuration_rate as configuration_rate
from .kinematics import forward_kinematics as forward_kinematics
from .kinematics import frame_pose as frame_pose
from .kinematics import jacobian as jacobian
from .kinematics import jacobian_rate as jacobian_rate
from .kinematics import neutral as neutral
from .kinematics import step_configuration as step_configuration
from .kinematics import total_mass as total_mass
from .model import Body as Body
from .model import DHLink as DHLink
from .model import Finding as Finding
from .model import Frame as Frame
from .model import Joint as Joint
from .model import Limits as Limits
from .model import ModelError as ModelError
from .model import Shape as Shape
from .model import Spacecraft as Spacecraft
from .model import Thruster as Thruster
from .model import Wheel as Wheel

if TYPE_CHECKING:
    from . import models as models
    from . import scenario as scenario
    from . import workspace as workspace
    from .algebra import attitude as attitude
    from .control.controller import Controller as Controller
    from .control.controller import joint_torques as joint_torques
    from .control.passive import Actuators as Actuators
    from .control.passive import Stops as Stops
    from .environment import Environment as Environment
    from .environment import Orbit as Orbit
    from .environment import Planet as Planet
    from .environment import combined as combined
    from .environment import two_body_gravity as two_body_gravity
    from .environment import uniform_gravity as uniform_gravity
    from .environment import zonal_gravity as zonal_gravity
    from .formation import Coupling as Coupling
    from .formation import Formation as Formation
    from .formation import FormationTrajectory as FormationTrajectory
    from .formation import Group as Group
    from .formulations import constraints as constraints
    from .formulations.generalized_jacobian import base_velocity_from_momentum as base_velocity_from_momentum
    from .formulations.generalized_jacobian import generalized_coriolis as generalized_coriolis
    from .formulations.generalized_jacobian import generalized_inertia as generalized_inertia
    from .formulations.generalized_jacobian import generalized_jacobian as generalized_jacobian
    from .formulations.generalized_jacobian import generalized_jacobian_rate as generalized_jacobian_rate
    from .formulations.generalized_jacobian import reduced_forward_dynamics as reduced_forward_dynamics
    from .formulations.lie_lagrange.equivalent_manipulator import equivalent_force as equivalent_force
    from .formulations.lie_lagrange.equivalent_manipulator import equivalent_manipulator as equivalent_manipulator
    from .formulations.lie_lagrange.equivalent_manipulator import equivalent_state as equivalent_state
    from .io import check as check
    from .io import load as load
    from .io import load_formation as load_formation
    from .io import save as save
    from .model.assembly import attach as attach
    from .model.assembly import joined_state as joined_state
    from .model.assembly import together as together
    from .model.assembly import transfer_state as transfer_state
    from .simulation import SimulationWarning as SimulationWarning
    from .simulation import Trajectory as Trajectory
    from .simulation import When as When
    from .simulation import simulate as simulate
    from .simulation.constrained import simulate_constrained as simulate_constrained
    from .simulation.floating import FloatingPose as FloatingPose
    from .simulation.phases import Phase as Phase
    from .simulation.phases import simulate_phases as simulate_phases
    from .tracing import Kernel as Kernel
    from .tracing import TraceError as TraceError
    from .tracing import compile as compile
    from .tracing import interp as interp
    from .tracing import jacobian_of as jacobian_of
    from .tracing import linearize as linearize
    from .tracing import normal as normal
    from .tracing import trace as trace
    from .tracing import uniform as uniform
    from .verification import verify as verify
    from .view.report import write_report as write_report

__version__ = "0.1.0"

# Names imported when first used, because they need more than NumPy or time: `import gyrostat` stays quick.
_LATER = {
    "algebra": ("attitude",),
    "formulations": ("constraints",),
    "formulations.lie_lagrange.equivalent_manipulator": (
        "equivalent_force",
        "equivalent_manipulator",
        "equivalent_state",
    ),
    "formulations.generalized_jacobian": (
        "base_velocity_from_momentum",
        "generalized_coriolis",
        "generalized_inertia",
        "generalized_jacobian",
        "generalized_jacobian_rate",
        "reduced_forward_dynamics",
    ),
    "model.assembly": ("attach", "joined_state", "together", "transfer_state"),
    "control.controller": ("Controller", "joint_torques"),
    "control.passive": ("Actuators", "Stops"),
    "environment": (
        "Environment",
        "Orbit",
        "Planet",
        "combined",
        "two_body_gravity",
        "uniform_gravity",
        "zonal_gravity",
    ),
    "formation": ("Coupling", "Formation", "FormationTrajectory", "Group"),
    "": ("models", "scenario", "workspace"),
    "simulation.floating": ("FloatingPose",),
    "view.report": ("write_report",),
    "io": ("check", "load", "load_formation", "save"),
    "simulation.constrained": ("simulate_constrained",),
    "simulation.phases": ("Phase", "simulate_phases"),
    "simulation": ("SimulationWarning", "Trajectory", "When", "simulate"),
    "verification": ("verify",),
    "tracing": ("Kernel", "TraceError", "compile", "interp", "jacobian_of", "linearize", "normal", "trace", "uniform"),
}
_HOME = {name: module for module, names in _LATER.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"gyrostat has no attribute '{name}'.")
    from importlib import import_module

    home = f".{_HOME[name]}" if _HOME[name] else ""
    module = import_module(home, __name__) if home else None
    value = getattr(module, name, None) or import_module(f"{home}.{name}", __name__)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
