"""Scenario files: a spacecraft, where it starts, what it does, and how it is integrated, in one TOML file."""

from .json_schemas import json_schema as json_schema
from .loading import load as load
from .scenario import Scenario as Scenario
from .templates import EXAMPLES as EXAMPLES
from .templates import example as example
from .templates import template as template
