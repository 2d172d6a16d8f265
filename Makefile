PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH_READY := $(VENV)/.bench-ready
IMAGES ?= pgvector/pgvector:pg18 pgvector/pgvector:pg17

.PHONY: help demo test lint bench quality soak test-docker freeze clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY) ## Ask a few questions of an embedded PostgreSQL
	@$(BIN)/pgfuse demo

test: lint ## Lint, then run all tests on an embedded PostgreSQL
	$(BIN)/python -m pytest -q --ignore=tests/soak

lint: $(READY) ## Check style, types and the checksums of released migrations
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python migrations/freeze.py --check

bench: $(BENCH_READY) ## Measure against other ways to do the same, on the collections in DATA or on generated ones
	$(BIN)/python -m benchmarks $(if $(DATA),--data $(DATA)) $(ARGS)

quality: $(READY) ## Measure the answers on the collections in DATA and rewrite the tables of docs/quality.md
	$(BIN)/python -m benchmarks.quality $(DATA)

soak: $(READY) ## Kill clients and servers in the middle of writes, many times
	$(BIN)/python -m pytest -q tests/soak

test-docker: $(READY) ## Run all tests on each image of IMAGES, in containers
	set -e; for image in $(IMAGES); do \
	    PGFUSE_TEST_DOCKER=1 PGFUSE_TEST_IMAGE=$$image $(BIN)/python -m pytest -q --ignore=tests/soak; \
	done

freeze: $(READY) ## Copy sql/ into the unreleased first revision
	$(BIN)/python migrations/freeze.py 0001_initial

clean: ## Remove what these targets made
	rm -rf $(VENV) build dist bench-results .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[embedded,dev]'
	@touch $@

$(BENCH_READY): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[embedded,dev,bench]'
	@touch $@
