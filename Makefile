# memwarden. `make help` lists what there is.
EXTENSION := memwarden
VERSION   := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" memwarden.control)
SCRIPT    := build/memwarden--$(VERSION).sql
SOURCES   := $(shell find sql plpython migrations -type f 2>/dev/null) tools/build.py memwarden.control

.DEFAULT_GOAL := help

.PHONY: build
build: $(SCRIPT) ## build the extension script from sql/ and plpython/

$(SCRIPT): $(SOURCES)
	@python3 tools/build.py

ifneq ($(filter install uninstall,$(MAKECMDGOALS)),)
DATA_built := $(SCRIPT)
PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)
endif

-include deploy/server.mk
