"""Print the table; the exit code is 1 where a case is wrong or a mutant survives, 2 where there is no data."""

import sys
from pathlib import Path

from tests.conformance import mutants
from tests.conformance.runner import details, files, folder, run_file, table, why_not


def main(arguments: list[str]) -> int:
    """Run all cases, or with `--mutants` those that must tell of faults put in."""
    every = "--all" in arguments
    places = [Path(argument) for argument in arguments if not argument.startswith("-")]
    place = places[0] if places else folder()
    if reason := why_not(place):
        print(reason, file=sys.stderr)
        return 2
    if "--mutants" in arguments:
        results = list(mutants.results(place, mutants.MUTANTS))
        print(mutants.table(results))
        return int(not all(result.wrong for result in results))
    verdicts = [verdict for file in files(place) for verdict in run_file(file)]
    print(table(verdicts))
    if text := details(verdicts, every=every):
        print(f"\n{text}")
    return int(any(verdict.outcome == "wrong" for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
