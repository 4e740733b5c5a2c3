# On a machine with Python (>= 3.11), pip and make: `make demo`, `make test`. Nothing else is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2

BENCHMARKS ?= $(shell grep -l __main__ benchmarks/*.py)

.PHONY: demo test lint docs bench cuda card fuzz house options seams mutants faults test-oldest peers audit sbom clean

demo: $(VENV)/.installed
	$(BIN)/gyrostat demo

test: $(VENV)/.installed-test lint
	$(BIN)/python -m pytest -n $(WORKERS)

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The site, its tutorials run anew: out/site/html/index.html
docs: $(VENV)/.installed-docs
	$(BIN)/python docs/make_site.py out/site

bench: $(VENV)/.installed-bench
	for script in $(BENCHMARKS); do $(BIN)/python $$script || exit 1; done

# Random combinations of options on random craft: CASES of them (the suite runs 24)
seams: $(VENV)/.installed-test
	GYROSTAT_SEAMS=$(or $(CASES),2000) $(BIN)/python -m pytest -n $(WORKERS) tests/seams

fuzz: $(VENV)/.installed-test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check atheris
	$(BIN)/python tests/fuzz/fuzz_loaders.py -max_total_time=300

house: $(VENV)/.installed
	$(BIN)/python tools/house.py $(BEFORE)

# CUDA without a card: NVRTC compiles what the tests compare as C++, ptxas tells registers and spills (some 130 MB of wheels)
cuda: $(VENV)/.installed-test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check cupy-cuda12x nvidia-cuda-nvrtc-cu12
	$(BIN)/python -m pytest tests/tracing/test_cuda.py -k nvrtc
	$(BIN)/python tools/cuda_registers.py

# The tests of CUDA on a card that there is, with the CuPy of its driver installed; elsewhere they run on a stand-in
card: $(VENV)/.installed-test
	GYROSTAT_REAL_CARD=1 $(BIN)/python -m pytest tests/tracing/test_cuda.py tests/simulation/test_on_card.py tests/simulation/test_stepping_on_card.py

# Small faults put in one by one: do the tests see them? Hours; can be stopped at any time and goes on where it was
FAULTS ?= 450
mutants: $(VENV)/.installed-test
	$(BIN)/python tools/mutants/campaign.py map -n $(WORKERS)
	$(BIN)/python tools/mutants/campaign.py run -n $(WORKERS) --count $(FAULTS)
	$(BIN)/python tools/mutants/campaign.py report --count $(FAULTS)

# Full disks, signals, damaged files, interrupted kernels, MINUTES of random calls: the counts go to docs/validation.md. Two hours or more
MINUTES ?= 30
faults: $(VENV)/.installed-test
	$(BIN)/python tools/faults/campaign.py --minutes $(MINUTES) --store out/faults.json --page docs/validation.md

# The oldest versions that pyproject.toml allows, in an environment of their own. Old packages with newer ones below them complain about
# each other, hence -W. Tests that compare with Pinocchio are left out where it is not installed: its wheels want a newer NumPy.
OLDEST := .venv-oldest
OLDEST_TESTS ?= tests
test-oldest: $(OLDEST)/.installed
	PYTHONPATH=$(CURDIR)/src $(OLDEST)/bin/python -m pytest -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning -n $(WORKERS) $(OLDEST_TESTS)

$(OLDEST)/.installed: pyproject.toml tools/lower_bounds.py
	$(PYTHON) -m venv --clear $(OLDEST)
	$(PYTHON) tools/lower_bounds.py mjcf xacro control casadi sympy fmu jax rl film orbit cluster zarr > $(OLDEST)/requirements.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check -r $(OLDEST)/requirements.txt pytest pytest-xdist hypothesis mpmath cffi coverage
	touch $@

# States of Drake, Basilisk and SPART against the programs themselves, in an environment of their own: they want other packages
PEERS := .venv-peers
peers: $(PEERS)/.installed
	PYTHONPATH=src $(PEERS)/bin/python -m pytest tests/test_interop_installed.py
	PYTHONPATH=src $(PEERS)/bin/python -m pytest tests/test_pages.py -k "runs_as_printed and drake"

$(PEERS)/.installed: pyproject.toml
	$(PYTHON) -m venv --clear $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -e . drake bsk spartpy pytest hypothesis
	touch $@

# What a user gets, and nothing else; looked at from outside, so that the tools do not count themselves
SHIPPED := .venv-shipped
TOOLS := .venv-tools
audit: $(SHIPPED)/.installed $(TOOLS)/.installed
	$(PYTHON) -m pip --python $(SHIPPED)/bin/python freeze --disable-pip-version-check --exclude gyrostat > $(SHIPPED)/requirements.txt
	$(TOOLS)/bin/pip-audit --strict --disable-pip --no-deps --requirement $(SHIPPED)/requirements.txt

sbom: $(SHIPPED)/.installed $(TOOLS)/.installed
	mkdir -p out
	$(TOOLS)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible -o out/sbom.json $(SHIPPED)/bin/python

$(SHIPPED)/.installed: pyproject.toml
	$(PYTHON) -m venv --clear --without-pip $(SHIPPED)
	$(PYTHON) -m pip --python $(SHIPPED)/bin/python install --quiet --disable-pip-version-check .
	touch $@

$(TOOLS)/.installed:
	$(PYTHON) -m venv --clear $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check pip-audit cyclonedx-bom
	touch $@

# Thousands of random combinations of options: each accepted one is felt, each other refused by name.
options: $(VENV)/.installed-test
	GYROSTAT_OPTION_CASES=$(or $(CASES),4000) $(BIN)/python -m pytest -q tests/simulation/test_options_have_effect.py

$(VENV)/bin/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'gyrostat needs Python 3.11 or newer, found ' + sys.version.split()[0] + '. Try: make PYTHON=python3.12')"
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test]"
	touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs,orbit,cluster,zarr,control,mjcf,rl]"
	touch $@

$(VENV)/.installed-bench: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[bench]"
	touch $@

clean:
	rm -rf $(VENV) $(OLDEST) $(PEERS) $(SHIPPED) $(TOOLS) .pytest_cache .ruff_cache .mypy_cache
