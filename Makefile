# make demo: score the shipped sample.   make test: lint, types and tests.   make docs: the documentation, in site/.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test lint docs clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# A stamp per set of extras: a second run installs nothing.
$(VENV)/.demo: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) -e ".[meteor]"
	@touch $@

$(VENV)/.test: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) -e ".[test]"
	@touch $@ $(VENV)/.demo

$(VENV)/.docs: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) -e ".[docs]"
	@touch $@

demo: $(VENV)/.demo
	$(BIN)/captious demo --report demo-report.html

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest -n 2 --dist loadfile

# A broken link fails the build (with --quiet it would not: what is not said is not counted).
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) site .mypy_cache .ruff_cache .pytest_cache
