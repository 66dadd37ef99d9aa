"""Questions about speed and cost, each answered by figures measured in one run: `python -m bench NAME [--json]`.

A module with a function `main(argv)` is a question; its name is the module's. `probe` drives a program through a
pseudo-terminal, `programs` starts what is measured, `floors` are the least programs that do the same, `server` is the
provider they talk to, `report` puts figures side by side. Single times say little on a shared machine: compare ratios.
"""
