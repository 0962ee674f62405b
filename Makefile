# Everything a contributor runs. Needs Python 3.11 or newer, git and make; the rest goes into .venv.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
AGENTS ?=
FUZZ ?=
DEFENCES ?=
FUZZ_SECONDS ?= 20
CODE := $(wildcard src tests bench)
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
BENCHES := $(filter-out bench/_%,$(sort $(wildcard bench/*.py)))

.DEFAULT_GOAL := help
.PHONY: help demo test test-browser test-sandbox test-agents soak defences fuzz check format bench reference picture clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(READY) ## watch a scripted agent converge in a temporary repository; no keys needed
	@$(BIN)/untilgreen demo
	@command -v untilgreen >/dev/null || echo "Here, untilgreen is $(BIN)/untilgreen."

# The core runs under coverage and in one process, the rest without and in two: every test once.
test: $(READY) ## run every test; the core must be covered to the last branch
	$(BIN)/coverage run -m pytest tests/core -q --inline-snapshot=disable
	$(BIN)/coverage report --include='*/untilgreen/core/*' --fail-under=100
	$(BIN)/pytest tests --ignore=tests/core --ignore=tests/browser --ignore=tests/agents_real --ignore=tests/soak \
		--ignore=tests/process/test_sandbox.py --ignore=tests/surfaces/cli/test_sandbox.py -q -n 2 --dist worksteal --inline-snapshot=disable
	@echo "Left out: tests/browser, which needs chromium; run it with make test-browser."
	@echo "Left out: the tests of the sandbox, which need bubblewrap; run them with make test-sandbox."
	@$(BIN)/python tests/agents_real/clis.py --left-out

# Debian's chromium, since Playwright's own browsers are a download of hundreds of megabytes.
test-browser: $(READY) ## look at the HTML report in a real browser; installs chromium and Playwright if need be
	@test -x /usr/bin/chromium || { echo "Installing chromium"; $(SUDO) apt-get update -qq && \
		$(SUDO) apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; }
	@$(BIN)/python -c 'import playwright' 2>/dev/null || $(PIP) install --group browser -c constraints.txt
	$(BIN)/pytest tests/browser -q --inline-snapshot=disable

test-sandbox: $(READY) ## run the tests of the sandbox; installs bubblewrap if need be
	@command -v bwrap >/dev/null || { echo "Installing bubblewrap"; $(SUDO) apt-get update -qq && \
		$(SUDO) apt-get install -y -qq --no-install-recommends bubblewrap >/dev/null; }
	$(BIN)/pytest tests/process/test_sandbox.py tests/engine/test_walls.py tests/surfaces/cli/test_sandbox.py -q -rs -n 2 --inline-snapshot=disable

test-agents: $(READY) ## run real agents against a scripted model; AGENTS="claude codex" only these
	$(BIN)/python tests/agents_real/clis.py $(AGENTS)
	AGENTS="$(AGENTS)" $(BIN)/pytest tests/agents_real -q -rs -n 2 --inline-snapshot=disable

soak: $(READY) ## the long versions: kill -9 at every named point, hundreds of races, floods; takes an hour
	$(BIN)/pytest tests/soak -q --inline-snapshot=disable

defences: $(READY) ## take away one defence after another and see its tests go red; DEFENCES="lock git" only these
	$(BIN)/python -m tests.defences.removing $(DEFENCES)

# Needs a wheel of atheris for this Python, which there is for Linux; so it is no part of the dev group.
fuzz: $(READY) ## break the parsers, each for FUZZ_SECONDS=20; FUZZ="spec output" only these
	@$(BIN)/python -c 'import atheris' 2>/dev/null || $(PIP) install --group fuzz -c constraints.txt
	$(if $(FUZZ),,FUZZ_EXAMPLES=500 $(BIN)/pytest tests/surfaces/test_hostile.py -q -n 2 --timeout=1200 --inline-snapshot=disable)
	$(BIN)/python -m tests.fuzz.guided $(FUZZ_SECONDS) $(FUZZ)

check: $(READY) ## format, lint, types, import contracts and shape; under a minute
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/mypy $(CODE)
	$(BIN)/lint-imports --no-logo
	$(BIN)/python docs/reference/make.py --check
	$(BIN)/pytest tests/test_shape.py -q -p no:randomly

format: $(READY) ## rewrite the code as `make check` wants it, where a machine can
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)

bench: $(READY) ## run the benchmarks, one after another
	@set -e; for script in $(BENCHES); do echo "== $$script"; $(BIN)/python "$$script"; done

reference: $(READY) ## write docs/reference anew, from the code
	@$(BIN)/python docs/reference/make.py

picture: $(READY) ## draw the README's picture anew, from a real run of the demo
	@$(BIN)/python docs/pictures/make.py

clean: ## remove .venv and everything else that can be made again
	rm -rf .venv .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
	find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "untilgreen needs Python 3.11 or newer, and '$(PYTHON)' is not." \
		     "Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "Setting up .venv; this happens once, and again when the dependencies change."
	@$(PYTHON) -m venv .venv
	@$(PIP) install --upgrade pip -c constraints.txt
	@$(PIP) install -e . --group dev -c constraints.txt --build-constraint constraints.txt
	@touch $@
