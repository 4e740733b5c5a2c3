"""Scenario files: a spacecraft, where it starts, what it does, and how it is integrated, in one TOML file."""

from .kinds import json_schema as json_schema
from .scenario import Scenario as Scenario
from .scenario import load as load
from .templates import EXAMPLES as EXAMPLES
from .templates import example as example
from .templates import template as template
