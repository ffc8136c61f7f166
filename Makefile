# make demo | test | corpus | documents | soak | lint | types | bench — CONTRIBUTING.md says what each is for.

PYTHON ?= python3
VENV ?= .venv
DJANGO ?=
PORT ?= 8000
OAUTH ?=
SECONDS ?= 30
BIN := $(VENV)/bin
PURE := $(VENV)-pure
PURE_TESTS := tests/openapi tests/catalog tests/search tests/invoke tests/protocol tests/pure

.PHONY: demo test test-pure test-sqlite test-postgres corpus documents soak lint types bench clean

demo: $(VENV)/demo $(if $(filter-out 0,$(OAUTH)),$(VENV)/oauth)
	PORT=$(PORT) OAUTH=$(OAUTH) $(BIN)/python -m project.demo.run

test: test-pure test-sqlite test-postgres

# The pure packages and their tests in an environment that has no Django at all.
test-pure: $(PURE)/ready
	$(PURE)/bin/python -m pytest -q -p no:cacheprovider -c tests/pure/pytest.ini --rootdir . $(PURE_TESTS)

test-sqlite: $(VENV)/dev
	@echo "== SQLite"
	DATABASE_URL=sqlite://:memory: $(BIN)/python -m pytest -q

# On PostgreSQL too when one answers; with POSTGRES=required one has to.
test-postgres: $(VENV)/dev
	@url=$$($(BIN)/python -m tests.postgres) || exit 1; \
	if [ -z "$$url" ]; then echo "== PostgreSQL: none answers, so the suite did not run on it"; \
	else echo "== PostgreSQL"; DATABASE_URL=$$url $(BIN)/python -m pytest -q; fi

corpus: $(VENV)/dev
	$(BIN)/python -m tests.conformance.corpus

documents: $(VENV)/dev
	$(BIN)/python -m benchmarks.documents

# On a PostgreSQL of its own, which it starts, restarts and throws away.
soak: $(VENV)/dev
	$(BIN)/python -m tests.soak.run --server gunicorn --seconds $(SECONDS)
	$(BIN)/python -m tests.soak.run --server uvicorn --seconds $(SECONDS)
	$(BIN)/python -m tests.soak.streams

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/dev
	$(BIN)/mypy

bench: $(VENV)/dev
	$(BIN)/python -m benchmarks.run

$(VENV)/pip:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "sezzlee_mcp needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/demo: $(VENV)/pip pyproject.toml
	$(BIN)/pip install --quiet --editable '.[demo]' $(if $(DJANGO),'Django~=$(DJANGO).0')
	@touch $@

$(VENV)/oauth: $(VENV)/demo pyproject.toml
	$(BIN)/pip install --quiet --editable '.[demo,oauth]' $(if $(DJANGO),'Django~=$(DJANGO).0')
	@touch $@

$(VENV)/dev: $(VENV)/demo pyproject.toml
	$(BIN)/pip install --quiet --editable '.[demo,oauth]' --group dev $(if $(DJANGO),'Django~=$(DJANGO).0')
	@touch $@

# The official client, conformance suite and inspector. Where they are not installed, their tests are skipped and say so.
$(VENV)/node: $(VENV)/pip tests/processes/typescript/package.json
	mkdir -p $@
	cp tests/processes/typescript/package.json $@
	npm install --prefix $@ --no-audit --no-fund --loglevel error
	@touch $@

$(PURE)/ready: pyproject.toml
	$(PYTHON) -m venv $(PURE)
	$(PURE)/bin/pip install --quiet --upgrade 'pip>=25.1'
	$(PURE)/bin/pip install --quiet --group pure
	@touch $@

clean:
	rm -rf $(VENV) $(PURE) demo.sqlite3
