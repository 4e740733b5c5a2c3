"""Forbes, Rigid-body equations of motion (2019): the same tumbling from nineteen parameterisations, nonholonomic
classics, and what "generalizes to multiple bodies" makes possible: two arms on one client, and its capture."""

from .reproduction import reproduce as reproduce
