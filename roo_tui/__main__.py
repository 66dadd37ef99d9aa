"""Run roo-tui as `python -m roo_tui`."""

import sys

from roo_tui.cli import main

if __name__ == "__main__":
    sys.exit(main())
