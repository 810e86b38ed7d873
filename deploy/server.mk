# The server for development: see deploy/README.md. PG=18 works with every target.
PG ?= 17
export PG

.PHONY: db stop psql dsn clean-server secrets help

db: build ## start PostgreSQL and install memwarden into database `memwarden`
	@deploy/server up dev
	@deploy/server install
	@deploy/server exec psql --quiet --no-psqlrc -v ON_ERROR_STOP=1 \
	    "$$(deploy/server dsn dev)" < deploy/lib/create-extension.sql
	@echo "PostgreSQL $(PG) is up, memwarden is installed. Connect with:  make psql"
	@echo "or from a program with:  $$(deploy/server dsn dev)"

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
