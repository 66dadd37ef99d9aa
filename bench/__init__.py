"""Benches: each answers one question about speed or cost with figures measured in one run.

    python -m bench                  list the benches
    python -m bench NAME [--json]    run one

A module with a function `main(argv)` is a bench and bears its name. `probe` drives a program through a pseudo-terminal,
`programs` starts what is measured, `floors` are the smallest programs that do the same, `server` is the provider they
talk to, `report` prints figures side by side. Absolute times say little on a shared machine: compare the ratios. A wait
that times out fails the bench with a sentence and never becomes a figure.
"""
