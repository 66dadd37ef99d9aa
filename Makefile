PY ?= python3.11
V := .venv

$(V)/.ok: pyproject.toml constraints.txt
	$(PY) -m venv --clear $(V)
	$(V)/bin/python -m pip install -q -c constraints.txt -e '.[dev]'
	@touch $@

# Python writes bytecode by itself only where it may; without it every start compiles the whole program again.
$(V)/.bytecode: $(V)/.ok $(shell find roo_tui -name '*.py')
	@$(V)/bin/python -m compileall -q roo_tui
	@touch $@

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(V)/.bytecode ## set up and start the app: make run ARGS=--demo
	@$(V)/bin/roo-tui $(ARGS)

test: $(V)/.bytecode ## set up, check style, types and layers, and run every test, offline
	@$(V)/bin/ruff check -q .
	@$(V)/bin/ruff format -q --check .
	@$(V)/bin/mypy
	@$(V)/bin/python -m pytest -q -n auto $(ARGS)

properties: $(V)/.ok ## play 10,000 generated sequences on the engine: make properties ARGS="--sequences 500"
	@$(V)/bin/python -m tests.properties $(ARGS)

coverage: $(V)/.ok ## run every test and list the lines and branches none of them reaches
	@mkdir -p .coverage_cache
	@$(V)/bin/python -m pytest -q -n auto --cov --cov-report=term $(ARGS)

docs: $(V)/.ok ## write the tables of docs/settings.md, docs/keys.md, docs/cli.md and prompts/README.md from the program
	@$(V)/bin/python -m docs.generate

wheel: $(V)/.ok ## build dist/*.whl
	@$(V)/bin/python -m hatchling build -t wheel

format: $(V)/.ok ## format and fix what can be fixed
	@$(V)/bin/ruff check -q --fix . || true
	@$(V)/bin/ruff format -q .

.DEFAULT_GOAL := help
.PHONY: help run test properties coverage docs wheel format
