# make demo: score the shipped sample.   make test: lint, types and tests.   make docs: the documentation, in site/.
# make test ROOM=scene: the tests of one room only.
# make site: the documentation, and a site of the demo's scores in site/demo.
# make kernels: build the library of compiled kernels again after an edit.
# make browser: Chromium, without which 'make test' leaves out the tests of the HTML report.
# make engines: Ray and Spark, without which 'make test' leaves out their tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

DEMO := src/captious/data/demo

.PHONY: demo test kernels browser engines lint docs site clean

# Files that the library of kernels is made of.
KERNELS := $(shell grep -rlE '^@(kernel|inner)' src --include='*.py') $(wildcard native/*.py) hatch_build.py

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# A stamp per set of extras: a second run installs nothing.
$(VENV)/.demo: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) -e ".[meteor]"
	@touch $@ $(VENV)/.kernels

$(VENV)/.test: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) -e ".[test]"
	@touch $@ $(VENV)/.demo $(VENV)/.kernels

$(VENV)/.docs: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) -e ".[docs]"
	@touch $@

# A library that is older than its sources is built again; only kernels that changed are compiled.
$(VENV)/.kernels: $(KERNELS) | $(BIN)/python
	$(PIP) --no-deps -e .
	@touch $@

kernels: $(VENV)/.kernels

demo: $(VENV)/.demo $(VENV)/.kernels
	$(BIN)/captious demo --report demo-report.html

.PHONY: style
style: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

lint: style
	$(BIN)/mypy

# Mypy takes one core for half a minute, so it runs beside the tests. What it says comes last.
test: style $(VENV)/.kernels
	@$(BIN)/mypy > $(VENV)/mypy.txt 2>&1 & types=$$!; \
	$(BIN)/python -m pytest -n 2 --dist worksteal $(if $(ROOM),tests/$(ROOM)); tests=$$?; \
	wait $$types; types=$$?; echo "mypy: $$(cat $(VENV)/mypy.txt)"; exit $$((tests > types ? tests : types))

# Chromium, for the tests of the HTML report. They drive the system's own: nothing else is downloaded.
browser:
	@[ -n "$$CAPTIOUS_BROWSER" ] || command -v chromium >/dev/null || { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium; } \
		|| { echo "make browser: install Chromium as root (apt-get install chromium), or set CAPTIOUS_BROWSER to its path"; exit 1; }

$(VENV)/.engines: $(VENV)/.test
	$(PIP) -e ".[ray,spark]"
	@touch $@ $(VENV)/.kernels

engines: $(VENV)/.engines
	$(BIN)/python -c "import ray, pyspark"
	@java -version 2>&1 | grep -Eq 'version "(1[7-9]|[2-9][0-9])' \
		|| { echo "make engines: Spark needs Java 17 or newer on the PATH (apt-get install openjdk-17-jre-headless)"; exit 1; }

# A broken link fails the build (with --quiet it would not: what is not said is not counted).
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The documentation with a site of the demo's systems beside it, in site/: our own live example.
site: docs $(VENV)/.demo $(VENV)/.kernels
	rm -rf site/demo .site-runs
	$(BIN)/captious score $(DEMO)/references.json $(DEMO)/good.json $(DEMO)/generic.json $(DEMO)/poor.json --metrics coco,CHAIRs,CHAIRi --objects $(DEMO)/objects.jsonl -o .site-runs --quiet
	$(BIN)/captious site .site-runs/*.scores -o site/demo --title "The demo of captious" --data-name "4c02afc5=The demo: 60 images"
	rm -rf .site-runs
	@echo "open site/index.html and site/demo/index.html"

clean:
	rm -rf $(VENV) .kernels src/captious/kernels/lib site .mypy_cache .ruff_cache .pytest_cache
