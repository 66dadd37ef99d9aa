"""The process that outlines files: one JSON object a line on standard input, one a line as answer."""

import json
import sys

from roo_tui.outline.signatures import outline


def main() -> None:
    """Answer until the input ends, which it does when the program that started this one is gone."""
    for line in sys.stdin:
        asked = json.loads(line)
        sys.stdout.write(json.dumps({"outline": outline(asked["path"], asked["text"])}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
