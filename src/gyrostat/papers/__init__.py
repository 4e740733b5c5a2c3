"""The experiments of the source papers, one package each, all of one shape:

    tables.py        the paper's printed numbers as they stand there, and what was built in their place (if it has any)
    crafts.py        the spacecraft
    ...              the runs, one module per experiment
    checks.py        what must hold in them
    figures.py       pictures of them
    reproduction.py  everything together: `reproduce(out_dir)`

Common to all: `checks` (rows of the table that is shown), `tables` (printed numbers against built ones), `panels`
(pictures), `serial_chain` (momentum and energy straight from a table, a second opinion on the craft), `own_state` (a
formulation's own state).
"""
