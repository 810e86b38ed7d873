# memwarden. `make help` lists what there is.
EXTENSION := memwarden
VERSION   := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" memwarden.control)
SCRIPT    := build/memwarden--$(VERSION).sql
# One update script for each earlier version whose install script is kept.
UPDATES   := $(patsubst migrations/released/%.sql.xz,build/%--$(VERSION).sql,$(wildcard migrations/released/*.sql.xz))

.DEFAULT_GOAL := help

.PHONY: all build script check test conformance mutants compare lint fuzz demo bench bench-peers docs dist install uninstall clean FORCE

# What `pgxn install` and packagers call; PGXS knows it too.
all: build

build: $(SCRIPT) ## build the extension's scripts from sql/, plpython/ and migrations/

# Takes less than a second and leaves files alone that are up to date.
$(SCRIPT): FORCE
	@python3 tools/build.py

$(UPDATES): $(SCRIPT)

script:
	@echo $(SCRIPT)

ifneq ($(filter install uninstall,$(MAKECMDGOALS)),)
# install: ## install into the server of PG_CONFIG=path/to/pg_config
# uninstall: ## take it out of that server again
PG_CONFIG ?= pg_config
DATA_built := $(SCRIPT) $(UPDATES)
# PGXS would install it; here it may be the conversation of `make demo`.
override DATA :=
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)
else
clean: ## delete what was built here, and the caches of the linters
	rm -rf build .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

# PGXS has a target of that name.
check: ## while working: lint, the tests without a server, and those of what changed since BASE (HEAD)
	@python3 tools/run_checks.py check $(or $(BASE),HEAD)
endif

lint: ## read the code: ruff, mypy, pgspot, shellcheck, the generated client
	@python3 tools/run_checks.py lint

test: ## run every check: all tests on PostgreSQL 17, a proved part on 18; afterwards no server of this checkout runs
	@python3 tools/run_checks.py lint 17 18

conformance: ## run the test suites of LangGraph's packages, from PyPI, on our store; not part of `make test`; TESTS='-k name' for some
	@MEMWARDEN_CONFORMANCE=1 "$$(tools/python-env)/bin/python" -m pytest -q tests/conformance $(TESTS); \
	    status=$$?; deploy/server down test; exit $$status

mutants: ## put each fault of tests/mutants/ into a scratch copy and show that the tests notice it
	@python3 tools/run_mutants.py $(MUTANTS)

compare: ## show what this tree changes in the catalog of an installation, against BASE (main); TEXT=1 for the lines
	@"$$(tools/python-env)/bin/python" tools/compare_builds.py $(or $(BASE),main) $(if $(TEXT),--text)

fuzz: ## call every public function with wrong arguments in every role; CALLS=n for other than 2000 calls a role
	@MEMWARDEN_FUZZ=$(or $(CALLS),2000) "$$(tools/python-env)/bin/python" -m pytest -q tests/fuzz; \
	    status=$$?; deploy/server down test; exit $$status

COMMAND := import sys; from memwarden.cli import main; sys.argv[0] = 'memwarden'; main()

demo: ## push a conversation through the gates and ask about it; DATA=file for another than the sample
	@tools/with-server demo -- python -c "$(COMMAND)" demo $(if $(DATA),--data '$(DATA)')

bench: ## measure against a bare pgvector table, history, sealing, scopes of every size; BENCH='--items 10000' for other sizes
	@tools/with-server bench -c shared_buffers=2GB -c max_wal_size=8GB -- \
	    sh -ec 'python bench/run.py --dsn "$$MEMWARDEN_DSN" "$$@"; \
	            python bench/history.py --dsn "$$MEMWARDEN_DSN"; \
	            python bench/sealing.py --dsn "$$MEMWARDEN_DSN"; \
	            python bench/sizes.py --dsn "$$MEMWARDEN_DSN"; \
	            python bench/growth.py --dsn "$$MEMWARDEN_DSN"; \
	            python bench/wide.py --dsn "$$MEMWARDEN_DSN"' bench $(BENCH)

bench-peers: ## measure beside a bare pgvector table, LangGraph's store and mem0, which it gets from PyPI; BENCH='--items 500'
	@tools/with-server bench -c shared_buffers=2GB -c max_wal_size=8GB -- \
	    sh -ec 'python bench/peers.py --dsn "$$MEMWARDEN_DSN" "$$@"' bench $(BENCH)

docs: ## build the site of these pages in build/site, with every link checked; it needs no network to be read
	@"$$(tools/python-env tools/site.txt)/bin/python" tools/make_site.py

dist: ## pack the extension for PGXN, and the client's sdists and wheels, into build/dist
	@python3 tools/make_dist.py
	@python="$$(tools/python-env)/bin/python"; for folder in python_client python_client/tools; do \
	    (cd $$folder && "$$python" -m hatchling build -d "$(CURDIR)/build/dist") || exit; done

include deploy/server.mk
