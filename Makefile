# On a machine with Python (>= 3.11), pip and make: `make demo`, `make test`. Nothing else is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2

BENCHMARKS ?= $(shell grep -l __main__ benchmarks/*.py)

.PHONY: demo test lint bench fuzz house clean seams

demo: $(VENV)/.installed
	$(BIN)/gyrostat demo

test: $(VENV)/.installed-test lint
	$(BIN)/python -m pytest -n $(WORKERS)

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.installed-bench
	for script in $(BENCHMARKS); do $(BIN)/python $$script || exit 1; done

# Random combinations of options on random craft: CASES of them (the suite runs 40)
seams: $(VENV)/.installed-test
	GYROSTAT_SEAMS=$(or $(CASES),2000) $(BIN)/python -m pytest -n $(WORKERS) tests/seams

fuzz: $(VENV)/.installed-test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check atheris
	$(BIN)/python tests/fuzz/fuzz_loaders.py -max_total_time=300

house: $(VENV)/.installed
	$(BIN)/python tools/house.py $(BEFORE)

# Small faults put in one by one: do the tests see them? Hours; can be stopped at any time and goes on where it was
FAULTS ?= 450
mutants: $(VENV)/.installed-test
	$(BIN)/python tools/mutants/campaign.py map -n $(WORKERS)
	$(BIN)/python tools/mutants/campaign.py run -n $(WORKERS) --count $(FAULTS)
	$(BIN)/python tools/mutants/campaign.py report --count $(FAULTS)

$(VENV)/bin/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'gyrostat needs Python 3.11 or newer, found ' + sys.version.split()[0] + '. Try: make PYTHON=python3.12')"
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test]"
	touch $@

$(VENV)/.installed-bench: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[bench]"
	touch $@

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache
