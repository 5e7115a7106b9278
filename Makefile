# Every target sets itself up. The first run downloads; later runs need no network.

SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := .make/ready
BROWSER := .make/browser
SERVICES := .make/services
FONTS := .make/fonts
LONG_SUITES_NEED := rabbitmq-server pgbouncer etcd-server libfaketime tesseract-ocr tesseract-ocr-deu rsync
# How long the storm lasts, and how many seconds lie between two faults, about.
MINUTES ?= 5
PAUSE ?= 3
# Two processes, each with a server of its own; who has nothing left takes over half of what the other has.
SIDE_BY_SIDE ?= -n 2 --dist worksteal

# Where an image forbids Python to keep what it compiled, every command would compile all of Mnemon again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo serve test test-all lint storm bench build reference examples screenshots lock clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(READY) ## make the virtual environment

demo: $(READY) ## show what Mnemon does, on an embedded database
	@$(BIN)/mnemon demo

serve: $(READY) ## run the server
	@$(BIN)/mnemon serve

lint: $(READY) ## style, types and layers
	@$(BIN)/ruff format --check -q
	@$(BIN)/ruff check -q
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache | tail -n 3

test: $(READY) $(BROWSER) lint ## lint, then all tests but the long suites
	@$(BIN)/pytest -m "not slow" $(SIDE_BY_SIDE) || { test $$? = 1 \
	  && echo "Once more what failed, alone: what passes now failed for want of patience or by what another test left; mend it." \
	  && $(BIN)/pytest -m "not slow" --last-failed --last-failed-no-failures none; }

test-all: $(READY) $(BROWSER) $(SERVICES) lint ## everything, the long suites included
	@$(BIN)/pytest

storm: $(READY) $(SERVICES) ## kills, full disk, clock jumps and a hostile tenant at once: make storm MINUTES=60
	@$(BIN)/python -m tests.storm --minutes $(MINUTES) --pause $(PAUSE)

bench: $(READY) ## every benchmark; QUICK=1 for a rough run
	@for file in bench/bench_*.py; do $(BIN)/python $$file || exit 1; done

bench-%: $(READY) ## one benchmark: make bench-NAME
	@$(BIN)/python bench/bench_$*.py

build: $(READY) ## wheels (Mnemon, the model's weights) and sdist in dist/
	@echo "1 of 2: packing Mnemon, as a wheel and as source"
	@rm -rf dist && $(BIN)/python -m build --no-isolation --outdir dist . > /dev/null
	@echo "2 of 2: packing the model's weights"
	@$(BIN)/python -m mnemon.models.weights_wheel dist > /dev/null && ls dist

reference: $(READY) ## write docs/reference from the code
	@$(BIN)/python -m mnemon.reference docs/reference

examples: $(READY) ## write the PDF and DOCX files of the sample corpus
	@$(BIN)/python examples/sources/build.py

screenshots: $(READY) $(BROWSER) $(FONTS) ## pictures of every page, light and dark, wide and narrow: make screenshots FOLDER=…
	@$(BIN)/python -m tests.web.screenshots $(or $(FOLDER),$(shell mktemp -d -t mnemon-pictures-XXXX))

lock: $(READY) ## pin the newest dependencies again (needs uv)
	uv pip compile --quiet --upgrade --generate-hashes --no-emit-index-url --no-header --no-annotate --universal \
	  --python-version 3.11 --group dev --all-extras pyproject.toml requirements/weights.in \
	  --override requirements/override.txt --output-file requirements.lock

clean: ## remove what the other targets made
	rm -rf $(VENV) .make .demo dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): requirements.lock pyproject.toml
	@mkdir -p .make
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Mnemon needs Python 3.11 or newer; say which with make PYTHON=...")'
	@$(PYTHON) -c 'import venv, ensurepip' 2> /dev/null || { echo "Installing python3-venv" && apt-get update -qq && apt-get install -y -qq python3-venv > /dev/null; } \
	  || { echo "Python's venv module is missing: install the package python3-venv."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing what Mnemon needs (about a minute, once)"
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# The browser tests skip, and say so, where chromium cannot be installed.
$(BROWSER):
	@mkdir -p .make
	@command -v chromium-headless-shell > /dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null \
	  && echo "Installing chromium for the browser tests" && apt-get update -qq \
	  && { apt-get install -y -qq --no-install-recommends chromium-headless-shell > /dev/null 2>&1 \
	    || apt-get install -y -qq --no-install-recommends chromium > /dev/null; }; } \
	  || command -v chromium > /dev/null || echo "No chromium: the browser tests will be skipped."
	@touch $@

# The pages are set in the fonts of the reader's machine; a bare one has few, and its pictures show none that people see.
$(FONTS):
	@mkdir -p .make
	@[ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get install -y -qq --no-install-recommends fonts-inter \
	  fonts-urw-base35 fonts-droid-fallback > /dev/null || echo "No fonts were installed: the pictures show those that are here."
	@touch $@

# What the long suites need of Debian; they skip, and say so, where it cannot be installed. Among them: the acceptance
# suite with two gateways behind PgBouncer (MNEMON_TEST_POOLED=1 pytest tests/acceptance), the short forms of
# bench-transports and bench-failover, pictures that are read, and mail that rsync brings.
$(SERVICES):
	@mkdir -p .make
	@dpkg -s $(LONG_SUITES_NEED) > /dev/null 2>&1 || { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null \
	  && echo "Installing for the long suites: $(LONG_SUITES_NEED)" && apt-get update -qq \
	  && apt-get install -y -qq --no-install-recommends $(LONG_SUITES_NEED) > /dev/null; } \
	  || echo "Some of these are missing, and what needs them will be skipped: $(LONG_SUITES_NEED)"
	@touch $@
