# make demo: score the shipped sample.   make test: lint, types and tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test lint clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# A stamp per set of extras: a second run installs nothing.
$(VENV)/.demo: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) -e ".[meteor]"
	@touch $@

$(VENV)/.test: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) -e ".[test]"
	@touch $@ $(VENV)/.demo

demo: $(VENV)/.demo
	$(BIN)/captious demo

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest -n 2 --dist loadfile

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
