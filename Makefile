# `make help` lists what can be made. VENV, PORT, HOST, WORKERS, THREADS, REDIS_URL, FUZZ and ARGS may be set.
SHELL := /bin/sh
VENV ?= .venv
PYTHON := $(VENV)/bin/python
NODE := tests/node
FUZZ ?= 20
INSTALL := sh deploy/venv.sh install $(VENV)
export REDOCLY_TELEMETRY := off
export REDOCLY_SUPPRESS_UPDATE_NOTICE := true

COMPILE = uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --custom-compile-command 'make lock' $(UPGRADE)

.PHONY: help run install test fuzz lint format contract bench bench-streams soak lock clean
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

run: $(VENV)/.run ## install what it needs and serve on 127.0.0.1:8080
	@exec $(PYTHON) -m service

install: $(VENV)/.run ## install what it needs and start nothing

test: $(VENV)/.dev ## install what it needs and run the tests (ARGS="-k words")
	@$(PYTHON) -m pytest --numprocesses auto --dist loadfile $(ARGS)

fuzz: $(VENV)/.dev ## twenty times as many made-up requests as the tests send, other ones every time (FUZZ=100)
	@FUZZ=$(FUZZ) $(PYTHON) -m pytest tests/test_fuzz.py --numprocesses auto $(ARGS)

lint: $(VENV)/.dev ## style, types, contract, Dockerfile, compose file and Kubernetes manifests
	$(PYTHON) -m ruff check
	$(PYTHON) -m ruff format --check
	$(PYTHON) -m mypy
	$(VENV)/bin/openapi-spec-validator openapi.yaml
	$(VENV)/bin/check-jsonschema --builtin-schema vendor.compose-spec deploy/compose.yaml
	$(VENV)/bin/hadolint deploy/Dockerfile
	$(VENV)/bin/kubernetes-validate --strict --quiet $(filter-out %/kustomization.yaml,$(wildcard deploy/kubernetes/*.yaml))

format: $(VENV)/.dev ## let ruff lay the code out
	$(PYTHON) -m ruff check --fix
	$(PYTHON) -m ruff format

contract: $(NODE)/node_modules/.installed ## lint openapi.yaml, compare it with the last release, compile its TypeScript (needs node)
	npm --prefix $(NODE) run --silent lint
	npm --prefix $(NODE) test --silent
	npm --prefix $(NODE) run --silent breaking
	npm --prefix $(NODE) run --silent types
	npm --prefix $(NODE) run --silent compile

bench: $(VENV)/.run ## what a move costs, and which goals hold (ARGS="speed --passes 3")
	@$(PYTHON) -m bench.run $(ARGS)

bench-streams: $(VENV)/.run ## a thousand open streams for a minute (ARGS="--streams 100 --seconds 10")
	@$(PYTHON) -m bench.streams $(ARGS)

soak: $(VENV)/.run ## play for long, with faults, and see that nothing grows or is lost (ARGS="--minutes 3 --rate 50")
	@$(PYTHON) -m soak $(ARGS)

lock: ## make the lock files again (UPGRADE=--upgrade for newer releases)
	@command -v uv >/dev/null || { echo "croupier: make lock needs uv (pip install uv)" >&2; exit 1; }
	$(COMPILE) pyproject.toml -o requirements.lock
	$(COMPILE) pyproject.toml --group dev -c requirements.lock -o requirements-dev.lock
	$(COMPILE) --group fast -o requirements-fast.lock

clean: ## remove what was installed and made, but not var/, where the games are
	rm -rf $(VENV) $(NODE)/node_modules $(NODE)/generated dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A virtual environment whose Python was removed is made anew, and one whose Python was replaced is filled again.
$(PYTHON):
	@sh deploy/venv.sh make $(VENV)

$(VENV)/.run: requirements.lock requirements-fast.lock deploy/venv.sh $(PYTHON)
	@$(INSTALL) requirements.lock
	@touch $@

# The development lock holds all of the other.
$(VENV)/.dev: requirements-dev.lock requirements-fast.lock deploy/venv.sh $(PYTHON)
	@$(INSTALL) requirements-dev.lock
	@touch $@ $(VENV)/.run

$(NODE)/node_modules/.installed: $(NODE)/package.json $(NODE)/package-lock.json
	npm --prefix $(NODE) ci --silent
	@touch $@
