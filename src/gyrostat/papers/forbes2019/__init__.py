"""Forbes (2019): the same tumbling from nineteen parameterisations, nonholonomic classics, closed loops and capture."""
