"""The experiments of the source papers, each one module: crafts, runs, figures, checks."""
