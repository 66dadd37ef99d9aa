"""The worker process that outlines files: reads one JSON object per line, writes one per line."""

import json
import sys

from roo_tui.outline.signatures import outline


def main() -> None:
    """Answer requests until standard input ends, as it does when the parent process is gone."""
    for line in sys.stdin:
        request = json.loads(line)
        sys.stdout.write(json.dumps({"outline": outline(request["path"], request["text"])}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
