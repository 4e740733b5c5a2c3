"""TOML files of gyrostat, of spacecraft and of scenarios: one reader with line numbers, one system of units."""
