# The server for development: see deploy/README.md. PG=18 works with every target.
PG ?= 17
export PG

.PHONY: db env stop psql dsn clean-server secrets help

db: build ## start PostgreSQL and install memwarden into database `memwarden`
	@deploy/server up dev
	@deploy/server install
	@deploy/server exec psql --quiet --no-psqlrc -v ON_ERROR_STOP=1 \
	    "$$(deploy/server dsn dev)" < deploy/lib/create-extension.sql
	@echo "PostgreSQL $(PG) is up, and memwarden is in its database memwarden."
	@echo "For this shell to connect to it, with psql, createdb and memwarden init:"
	@echo "    eval \"\$$(make env$(if $(filter-out 17,$(PG)), PG=$(PG)))\""
	@echo "Or run make psql, or connect a program with:  $$(deploy/server dsn dev)"

env: ## print what makes a shell connect to the development database, for eval "$(make env)"
	@deploy/server dsn dev | sed 's/dbname=/database=/; s/\([a-z]*\)=\([^ ]*\)/export PG\U\1\E=\2;/g'

stop: ## stop every server of this checkout, on 17 and 18
	@deploy/server down --all

psql: ## open psql on the development database
	@deploy/server exec psql "$$(deploy/server dsn dev)"

dsn: ## print the connection string of the development database, and nothing else
	@deploy/server dsn dev

clean-server: ## stop every server of this checkout and delete their data
	@deploy/server clean

secrets: ## make the password and the master key that compose.yaml mounts
	@deploy/make-secrets

help: ## list the targets
	@awk -F ':.*## ' '/^(# )?[a-z-]+:.*## / { sub(/^# /, "", $$1); printf "  make %-14s %s\n", $$1, $$2 }' \
	    $(MAKEFILE_LIST)
