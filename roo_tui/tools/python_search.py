"""The search without ripgrep: a separate program, so that a slow pattern can be stopped.

Usage: `python_search.py PATTERN FILE...`. It writes `path NUL line-number : line` for each matching line, as
`rg --null --line-number` does. If the pattern is not valid, it exits with code 2 and a message on stderr. It uses the
standard library only.
"""

import codecs
import re
import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Search the files for the pattern and write the matching lines to standard output."""
    try:
        pattern = re.compile(arguments[0])
    except re.error as error:
        sys.stderr.write(str(error))
        return 2
    out = sys.stdout.buffer
    for path in arguments[1:]:
        try:
            text = _decode(Path(path).read_bytes())
        except OSError:
            continue
        name = path.encode("utf-8", "surrogateescape")
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        for number, line in enumerate(lines, 1):
            line = line.removesuffix("\r")
            if pattern.search(line):
                out.write(name + b"\0" + b"%d:" % number + line.encode("utf-8", "surrogateescape") + b"\n")
        out.flush()
    return 0


def _decode(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace")
    return data.decode("utf-8-sig", errors="surrogateescape")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
