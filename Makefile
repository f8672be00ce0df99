# Every target sets up what it needs; the first run downloads the locked packages.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
UV     := $(shell command -v uv 2>/dev/null)
STAMP  := $(VENV)/.installed
TOOLS  ?= .venv-release
WRITER ?= .venv-site
DIST   ?= dist
ADVISORIES ?= --vulnerability-service pypi

# pytest rewrites each test file once and keeps it, instead of anew in each of its processes, whatever this shell says.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup demo test verify static check bench campaign wheel sdist sbom advisories site lock clean

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

demo: $(STAMP)  ## the whole nightly loop on embedded parts; PAGES=1: with the pages, until Ctrl-C
	@$(BIN)/logistics-batch demo --dir demo $(if $(PAGES),--pages)

# Four on two cores: many tests wait for a lease, a pause or a browser.
test: $(STAMP)  ## every test of what it does
	@$(BIN)/python -m compileall -q src  # each test starts processes: none of them shall compile the program anew
	$(BIN)/pytest -n 4 --dist worksteal tests

verify: $(STAMP)  ## samples of the protocol model, the campaigns, hostile files, fuzzing, PostgreSQL and the release
	@$(BIN)/python -m compileall -q src
	$(BIN)/pytest -n 4 --dist worksteal verification

static: $(STAMP)  ## format, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

check: static  ## format, lint, types, fast tests
	$(BIN)/pytest -n 2 --dist worksteal -q -m "not slow" tests

bench: $(STAMP)  ## timings beside the alternatives
	$(BIN)/python benchmarks/run.py

campaign: $(STAMP)  ## the long campaigns in full size, then every test with a key that must stand nowhere
	CAMPAIGN=full $(BIN)/pytest -n 2 --dist worksteal -m slow -q tests verification
	$(BIN)/pytest -n 2 --dist worksteal -q --canary tests verification

# What makes a release has an environment of its own, from a lock of its own.
$(TOOLS)/.installed: requirements-release.lock
	@test -x $(TOOLS)/bin/python || $(PYTHON) -m venv $(TOOLS)
	@$(TOOLS)/bin/python -m pip install --quiet --require-hashes --only-binary :all: -r requirements-release.lock
	@touch $@

wheel: $(TOOLS)/.installed  ## the package, for servers
	@$(TOOLS)/bin/python -m hatchling build -t wheel -d $(DIST)

sdist: $(TOOLS)/.installed  ## the source, from which the same wheel can be built
	@$(TOOLS)/bin/python -m hatchling build -t sdist -d $(DIST)

sbom: $(TOOLS)/.installed  ## what a server installs, as a CycloneDX bill of materials; needs no network
	@mkdir -p $(DIST)
	@$(TOOLS)/bin/python -W ignore -m cyclonedx_py requirements --pyproject pyproject.toml --output-reproducible --validate \
	  --output-file $(DIST)/sbom.cdx.json requirements-runtime.lock
	@echo $(DIST)/sbom.cdx.json

# Exit 0: none is known. Otherwise a weakness is known, or nothing is: the two are never taken for each other.
advisories: $(TOOLS)/.installed  ## known weaknesses of what a server installs; asks PyPI, or another service (see pip-audit)
	@mkdir -p $(DIST)
	@$(TOOLS)/bin/pip-audit --strict --disable-pip --require-hashes --progress-spinner off $(ADVISORIES) \
	  -r requirements-runtime.lock 2>$(DIST)/advisories.log; code=$$?; tail -n 1 $(DIST)/advisories.log; \
	if ! grep -qE '^(No|Found [0-9]+) known vulnerabilit' $(DIST)/advisories.log; then \
	  echo "The advisory service could not be asked, so nothing is known about weaknesses. Try again where it can be reached."; \
	  exit 2; \
	fi; exit $$code

$(WRITER)/.installed: requirements-site.lock
	@test -x $(WRITER)/bin/python || $(PYTHON) -m venv $(WRITER)
	@$(WRITER)/bin/python -m pip install --quiet --require-hashes --only-binary :all: -r requirements-site.lock
	@touch $@

# The pages as they stand, with a search; a link that leads nowhere is an error.
site: $(WRITER)/.installed  ## the documentation to read in a browser or to put on a server: dist/site/index.html
	@$(WRITER)/bin/python -m sphinx --quiet --fail-on-warning --keep-going --conf-dir docs/site --doctree-dir $(DIST)/doctrees . $(DIST)/site
	@cp $(DIST)/site/README.html $(DIST)/site/index.html
	@echo $(DIST)/site/index.html

LOCKED := uv pip compile --quiet --universal --generate-hashes --no-header --no-emit-index-url --python-version 3.11
EXTRAS := web oidc postgres pgp alerts metrics barcodes

lock:  ## renew the four locks (needs uv): for development, for servers, for releases, for the site
	$(LOCKED) --all-extras --upgrade pyproject.toml -o requirements.lock
	$(LOCKED) --upgrade $(addprefix --extra ,$(EXTRAS)) --constraint requirements.lock pyproject.toml -o requirements-runtime.lock
	$(LOCKED) --upgrade --group release --constraint requirements.lock -o requirements-release.lock
	$(LOCKED) --upgrade --group site --constraint requirements.lock -o requirements-site.lock

clean:  ## remove the environments and the demo's files
	rm -rf $(VENV) $(TOOLS) $(WRITER) $(DIST) demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
