# make check      install into .venv and check the first example
# make test       lint, types and the tests that take less than a second each
# make test-more  the same with the tests that take seconds, as CI runs them
# make test-all   the same with every test that needs no Kafka
# make test-cluster   four replays on real Kafka (needs a JDK, and Maven Central the first time)
# make test-cluster-all   every test on real Kafka, about an hour
# make audit      audit a design review of 2,304 combinations, on Spark (needs Java 17), into build/audit
# make clean      remove .venv and everything that can be made again

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# Unless bytecode is kept, each worker of pytest rewrites 300 files of tests, and each process that they start compiles.
test test-more test-all test-cluster test-cluster-all: export PYTHONDONTWRITEBYTECODE =

.PHONY: check audit test test-more test-all test-cluster test-cluster-all lint clean

check: $(VENV)/.installed
	@echo "proofka check examples/orders.yaml"
	@$(BIN)/proofka check examples/orders.yaml || test $$? -eq 1  # a violation is an answer, not an error

audit: $(VENV)/.installed-spark
	@echo "proofka audit examples/audit/design-review.yaml --out build/audit"
	@$(BIN)/proofka audit examples/audit/design-review.yaml --out build/audit || test $$? -eq 1  # as above

test: lint
	$(BIN)/python -m pytest -m "not seconds and not slow and not cluster" -n 2 --dist loadgroup --no-loadscope-reorder

test-more: lint
	$(BIN)/python -m pytest -m "not slow and not cluster" -n 2 --dist loadgroup --no-loadscope-reorder

test-all: lint
	$(BIN)/python -m pytest -m "not cluster" -n 2 --dist loadgroup --no-loadscope-reorder

# One after another: a cluster of four nodes keeps two cores busy.
test-cluster: $(VENV)/.installed-cluster
	$(BIN)/python -m pytest -m cluster tests/checker/reproduction/test_replays.py

test-cluster-all: $(VENV)/.installed-cluster
	$(BIN)/python -m pytest -m cluster

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --strict certcheck/plain/certcheck.py

# A source distribution has no links.
LINKS := $(addprefix proofka/,model properties checker reports)

$(LINKS):
	ln -s ../$(notdir $@) $@

$(VENV)/.created: | $(LINKS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Proofka needs Python 3.11 or later, and $(PYTHON) is not: name one with make PYTHON=python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) has no venv module: install it (Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/.created
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.installed-spark: pyproject.toml constraints.txt | $(VENV)/.created
	$(INSTALL) --editable '.[spark]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(VENV)/.created
	$(INSTALL) --editable '.[dev]'
	@touch $@ $(VENV)/.installed $(VENV)/.installed-spark

$(VENV)/.installed-cluster: pyproject.toml constraints.txt | $(VENV)/.installed-dev
	$(INSTALL) --editable '.[dev,cluster]'
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find proofka model properties checker reports tests -name __pycache__ -type d -prune -exec rm -rf {} +
