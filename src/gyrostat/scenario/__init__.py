"""Scenario files: a spacecraft, where it starts, what it does, and how it is integrated, in one TOML file."""

from .kinds import json_schema as json_schema
from .scenario import Scenario as Scenario
from .scenario import load as load
from .template import EXAMPLES as EXAMPLES
from .template import example as example
from .template import template as template
