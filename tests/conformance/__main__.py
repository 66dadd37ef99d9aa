"""Print the table; the exit code is 1 where a case is wrong, 2 where there is no data."""

import sys
from pathlib import Path

from tests.conformance.runner import details, files, folder, run_file, table, why_not


def main(arguments: list[str]) -> int:
    every = "--all" in arguments
    places = [Path(argument) for argument in arguments if not argument.startswith("-")]
    place = places[0] if places else folder()
    if reason := why_not(place):
        print(reason, file=sys.stderr)
        return 2
    verdicts = [verdict for file in files(place) for verdict in run_file(file)]
    print(table(verdicts))
    if text := details(verdicts, every=every):
        print(f"\n{text}")
    return int(any(verdict.outcome == "wrong" for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
