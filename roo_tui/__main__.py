"""`python -m roo_tui` does what `roo-tui` does."""

import sys

from roo_tui.cli import main

if __name__ == "__main__":
    sys.exit(main())
