# Every target sets up what it needs; the first run downloads the locked packages.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
UV     := $(shell command -v uv 2>/dev/null)
STAMP  := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup demo test static check bench campaign lock clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/:/' | column -t -s ':'

# Only locked files whose hashes match are installed, only as built wheels, and nothing is built from an unlocked backend.
$(STAMP): requirements.lock pyproject.toml
ifneq ($(UV),)
	@test -x $(BIN)/python || $(UV) venv --quiet --python $(PYTHON) $(VENV)
	$(UV) pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes --only-binary :all: -r requirements.lock
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
else
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --only-binary :all: -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
endif
	@touch $@

setup: $(STAMP)  ## create the virtual environment from the hashed lock

demo: $(STAMP)  ## the whole nightly loop on embedded parts
	@$(BIN)/logistics-batch demo --dir demo

test: $(STAMP)  ## every test, with samples of the long campaigns
	$(BIN)/pytest -n 2 --dist worksteal

static: $(STAMP)  ## format, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

check: static  ## format, lint, types, fast tests
	$(BIN)/pytest -n 2 --dist worksteal -q -m "not slow"

bench: $(STAMP)  ## timings beside the alternatives
	$(BIN)/python benchmarks/run.py

campaign: $(STAMP)  ## the long campaigns in full size, then every test with a key that must stand nowhere
	CAMPAIGN=full $(BIN)/pytest -n 2 --dist worksteal -m slow -q
	$(BIN)/pytest -n 2 --dist worksteal -q --canary

lock:  ## renew requirements.lock (needs uv)
	uv pip compile --quiet --universal --generate-hashes --no-header --no-emit-index-url --python-version 3.11 --all-extras --upgrade pyproject.toml -o requirements.lock

clean:  ## remove the environment and the demo's files
	rm -rf $(VENV) demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
