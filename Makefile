# `make paper` is the project in one command, `make test` its proof. `make` alone lists everything.

PYTHON ?= $(shell command -v python3.11 || command -v python3 || echo python3.11)
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# Processes that `make test` uses, with one thread each; tests wait for processes of their own, so that two
# cores have work for three.
TEST_PROCESSES ?= 3
# A folder with a paper.yaml is a paper, and a target.
PAPERS := $(sort $(notdir $(patsubst %/paper.yaml,%,$(wildcard lib/driftlab/papers/*/paper.yaml))))

.PHONY: help install paper tour test lab bench report doctor regression lock hooks clean $(PAPERS)
.DEFAULT_GOAL := help

help:
	@echo "make paper    run the finished papers at demo scale; tables, figures and report.html go to outputs/"
	@echo "make PAPER    the same for one paper: $(PAPERS)"
	@echo "make tour     run the first notebook: one small thing of each finished paper"
	@echo "make test     check style and types, run the tests and the regression notebooks"
	@echo "make lab      open JupyterLab"
	@echo "make report   write outputs/report.html from what has been computed"
	@echo "make bench    compare the trainers with the plain way of doing the same"
	@echo "make doctor   check whether this machine can run the notebooks"
	@echo "make regression  execute the regression notebooks again, after a change that is meant to change them"
	@echo "make hooks    install the pre-commit hooks"
	@echo "make lock     write requirements.txt again from pyproject.toml (LOCK_FLAGS=--upgrade: newest versions)"
	@echo "make clean    remove $(VENV) and the tools' caches; outputs/ stays"
	@echo
	@echo "All of them first create $(VENV) with $(PYTHON) where that has not been done."

install: $(INSTALLED)

# Touched last, so that a failed installation is tried again.
$(INSTALLED): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null || { \
	  echo "driftlab needs Python 3.11, and $(PYTHON) is not that. Install it, or say where it is:" >&2; \
	  echo "  make $(or $(MAKECMDGOALS),install) PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --quiet -r requirements.txt
	@touch $@

paper: $(INSTALLED)
	$(BIN)/driftlab run finished --scale demo; status=$$?; $(BIN)/driftlab report && exit $$status

$(PAPERS): $(INSTALLED)
	$(BIN)/driftlab run $@ --scale demo; status=$$?; $(BIN)/driftlab report && exit $$status

tour: $(INSTALLED)
	$(BIN)/driftlab run start_here --scale demo; status=$$?; $(BIN)/driftlab report && exit $$status

test: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $(TEST_PROCESSES) --nbval --nbval-current-env \
	  --nbval-sanitize-with=tests/regression/sanitize.cfg

lab: $(INSTALLED)
	$(BIN)/jupyter lab

bench report doctor: $(INSTALLED)
	$(BIN)/driftlab $@

regression: $(INSTALLED)
	$(BIN)/python tools/regression.py

lock: $(INSTALLED)
	$(BIN)/python tools/lock.py $(LOCK_FLAGS)

hooks: $(INSTALLED)
	$(BIN)/pre-commit install

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build lib/*.egg-info
	find lib tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
