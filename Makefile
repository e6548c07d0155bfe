# The two commands a newcomer needs: `make demo` and `make test`. `make check` is the only gate.
# tests/conftest.py puts each test in a tier: `make test` runs those that need Python alone (at most five minutes on two idle
# cores), `make test-all` also those that need database servers, Node and the like, `make storm` those of many minutes each.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
PYTEST := $(BIN)/python -m pytest -rs
# Processes that run tests side by side, each a file at a time, in the order that tests/conftest.py gives them. Tests wait
# for half of their time, so two cores carry three. A Neo4j in NEO4J_URI has one database, which tests empty.
WORKERS ?= $(if $(NEO4J_URI),0,3)

# Containers often set it. Without bytecode each of the hundreds of processes that the tests start compiles the package anew.
unexport PYTHONDONTWRITEBYTECODE

SIDE_BY_SIDE := $(PYTEST) -n $(WORKERS) --dist loadfile --no-loadscope-reorder tests --ignore=tests/benchmarks

.PHONY: demo test test-all check lint storm bench mutants conformance clients docker-check check-package installs release docs snapshots clean

demo: $(VENV)/runtime
	$(BIN)/graphiti-pkm demo

test: $(VENV)/dev
	$(SIDE_BY_SIDE) -m quick

test-all: $(VENV)/dev
	$(SIDE_BY_SIDE) -m "not storm"

check: lint test-all

lint: $(VENV)/dev
	$(BIN)/ruff format --check mcp_server tests packaging setup.py
	$(BIN)/ruff check mcp_server tests packaging setup.py
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m tests.size_report

# Kill tests of minutes and the benchmark table: run for a release or a note, never part of the gate.
storm: $(VENV)/package
	$(PYTEST) tests --ignore=tests/benchmarks -m storm --timeout=600 -s

bench: $(VENV)/dev
	$(BIN)/python -m tests.benchmarks

# Plants faults in the rules of time and fails unless the temporal suite catches each: minutes, see DOCS/temporal-suite.md.
mutants: $(VENV)/dev
	$(BIN)/python -m tests.temporal.mutants

# MCP's own conformance suite against a server, and the tables of DOCS/clients.md: every configuration of a client is started,
# every framework converts every tool, in environments that uv makes and throws away (Node, and minutes the first time).
conformance: $(VENV)/dev
	$(PYTEST) tests/e2e/test_conformance.py -n 0

clients: $(VENV)/package
	$(BIN)/python -m tests.client_matrix --write

# Lints docker/, then builds and runs the image without an engine (Debian, root, buildah, mmdebstrap): minutes; says what it
# could not run. See DOCS/operations.md.
docker-check: $(VENV)/dev
	$(BIN)/python -m tests.docker_check

# Builds sdist, wheel, the wheel of the weights and the bundle, checks them and uses them in empty environments: one to two
# minutes; CI calls it.
check-package: $(VENV)/package
	$(BIN)/python -m tests.package_check $(DIST)

# Installs those files with uv, uvx, pip and pipx on each of PYTHONS, in empty environments without caches, up to a first answer
# by meaning: half a minute to two minutes each. See DOCS/releasing.md.
installs: $(VENV)/package
	$(BIN)/python -m tests.installed_check $(DIST) $(PYTHONS)

# `make release VERSION=0.3.0`: writes the version, checks everything, commits and tags. See DOCS/releasing.md.
release: $(VENV)/package
	$(BIN)/python packaging/release.py $(VERSION)
	$(MAKE) docs
	$(MAKE) check
	$(MAKE) check-package DIST=dist
	git commit --quiet --all --message "Release $(VERSION)"
	git tag --annotate v$(VERSION) --message "Release $(VERSION)"
	@echo "Tagged v$(VERSION); the files are in dist/. DOCS/releasing.md says how to publish it."

docs: $(VENV)/dev
	$(BIN)/python -m tests.write_docs

snapshots: $(VENV)/dev
	$(BIN)/python -m tests.protocol.update_snapshots

$(VENV)/runtime: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "graphiti-pkm needs Python 3.11 or newer; set PYTHON=python3.11")'
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV) (about a minute the first time) ..."
	@$(PIP) --no-deps -r requirements.lock
	@$(PIP) --no-deps -e .
	@touch $@

$(VENV)/dev: $(VENV)/runtime requirements-dev.lock
	@$(PIP) --no-deps -r requirements-dev.lock
	@touch $@

$(VENV)/package: $(VENV)/dev requirements-package.lock
	@$(PIP) --no-deps -r requirements-package.lock
	@touch $@

clean:
	rm -rf $(VENV) build mcp_server/*.egg-info
