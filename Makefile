PY ?= python3.11
V := .venv

$(V)/.ok: pyproject.toml constraints.txt
	$(PY) -m venv $(V)
	$(V)/bin/python -m pip install -q -c constraints.txt -e '.[dev]'
	@touch $@

# Python writes bytecode by itself only where it may; without it every start compiles the whole program again.
$(V)/.bytecode: $(V)/.ok $(shell find roo_tui -name '*.py')
	@$(V)/bin/python -m compileall -q roo_tui
	@touch $@

run: $(V)/.bytecode ## set up and start the app: make run ARGS=--demo
	@$(V)/bin/roo-tui $(ARGS)

test: $(V)/.bytecode ## set up, check style, types and layers, run every test
	@$(V)/bin/ruff check -q .
	@$(V)/bin/ruff format -q --check .
	@$(V)/bin/mypy
	@$(V)/bin/python -m pytest -q -n auto $(ARGS)

properties: $(V)/.ok ## play 10,000 sequences of operations and print what happened: make properties ARGS="--sequences 500"
	@$(V)/bin/python -m tests.properties $(ARGS)

format: $(V)/.ok ## format and fix what can be fixed
	@$(V)/bin/ruff check -q --fix . || true
	@$(V)/bin/ruff format -q .

.PHONY: run test properties format
