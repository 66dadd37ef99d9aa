"""The words of the demo: what its model says and calls, step by step. Everything else in the demo is real.

Each step of a task says something no other step says, so that its words in a conversation show where the script is.
"""

import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

RUN_TESTS = f"{shlex.quote(sys.executable)} -m unittest -v"

Call = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class DemoReply:
    """One answer: reasoning (may be empty), words, and calls as (tool, input) pairs."""

    say: str
    calls: tuple[Call, ...] = ()
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a task. `note` is how a summary tells it.

    `instead` looks at the text of the results of the step before and returns another reply where the step does not fit.
    """

    reply: DemoReply
    note: str
    instead: Callable[[str], DemoReply | None] | None = None

    def answer(self, results: str) -> DemoReply:
        """Return what this step says after those results."""
        return (self.instead and self.instead(results)) or self.reply


def _finish(say: str, result: str) -> DemoReply:
    return DemoReply(say, (("attempt_completion", {"result": result}),))


def _todos(*items: str) -> Call:
    return "update_todo_list", {"todos": "\n".join(items)}


def _passing_already(results: str) -> DemoReply | None:
    if "\nOK" not in results:
        return None
    return _finish(
        "Every test passes, so there is nothing left to fix.",
        "All tests pass already; I changed nothing. To see the repair once more, rewind to your first message with "
        "Ctrl+R and choose conversation and files.",
    )


def _still_failing(results: str) -> DemoReply | None:
    if "FAILED" not in results:
        return None
    return _finish(
        "Some tests still fail, and that is not in my script.",
        "The tests still fail. I am a scripted demo and cannot look further; the output of the last command shows "
        "which test it is. Rewind with Ctrl+R to start again.",
    )


def stopped_by(error: str) -> DemoReply:
    """Return what is said when a call failed or was denied; `error` is its result."""
    quoted = "\n".join(f"> {line}" for line in error.strip().splitlines()[:4])
    return DemoReply(
        "That call did not go through, so I stop here instead of guessing. This is what came back:\n\n"
        f"{quoted}\n\nSay **continue** and I try the same step again, or rewind with Ctrl+R."
    )


NOT_SCRIPTED = DemoReply(
    "This is the demo: my words are scripted, there is no model behind them, and I have none for that. What I can "
    "do:\n\n"
    "- **Fix the failing date test**: the task the demo is made for\n"
    "- **Add a test for leap years**: a second one, with a new file\n"
    "- **/review**: one of the project's own commands\n"
    "- **continue**: go on where I was interrupted\n\n"
    "Everything around my words is real: the tools, the approvals, the context bar, condensing, undo and rewind. "
    "For a real conversation leave with Ctrl+Q, set `ANTHROPIC_API_KEY` and start without `--demo`."
)

_DIFF = """\
<<<<<<< SEARCH
from datetime import date, timedelta
=======
from calendar import monthrange
from datetime import date, timedelta
>>>>>>> REPLACE

<<<<<<< SEARCH
    index = day.month - 1 + months
    return day.replace(year=day.year + index // 12, month=index % 12 + 1)
=======
    index = day.month - 1 + months
    year, month = day.year + index // 12, index % 12 + 1
    return date(year, month, min(day.day, monthrange(year, month)[1]))
>>>>>>> REPLACE
"""

_EXPLANATION = """\
Found it. The test that fails asks for the day one month after **31 January**:

```
ValueError: day is out of range for month
```

`add_months` keeps the number of the day and only changes year and month:

```python
def add_months(day: date, months: int) -> date:
    index = day.month - 1 + months
    return day.replace(year=day.year + index // 12, month=index % 12 + 1)
```

There is no 31 February, so `replace` refuses. The docstring promises something else, *“or the month's last day where \
it is shorter”*, and everybody builds on that promise:

| caller | what goes wrong at the end of a long month |
| --- | --- |
| `due_date` | raises instead of naming a day |
| `Terms.due` | the same, for every kind of terms |
| `Invoice.due` | no invoice of 31 January can be printed |

The length of the month is in `calendar.monthrange`. I'll take the smaller of the two days:"""

_FIX_TODOS = ("Look at the project", "Run the tests", "Find the cause", "Fix it", "Prove it")


def _fix_todos(done: int) -> Call:
    marks = ["[x]"] * done + ["[-]"] + ["[ ]"] * len(_FIX_TODOS)
    return _todos(*(f"{mark} {text}" for mark, text in zip(marks, _FIX_TODOS, strict=False)))


FIX = (
    Step(
        DemoReply(
            "I'll make a plan first, then look at the project before I touch anything.",
            (_fix_todos(0),),
            thinking="A failing test about dates. I don't know the project yet: list it, read what has to do with "
            "dates, run the tests to see the real failure, and only then change something. The rules say that a change "
            "is not done before `python -m unittest -v` has passed.",
        ),
        "made a todo list",
    ),
    Step(
        DemoReply("What is there?", (("list_files", {"path": ".", "recursive": True}),)), "listed the project's files"
    ),
    Step(
        DemoReply(
            "The dates live in `billing/dates.py`, and its tests say what they should do. I'll read both.",
            (("read_file", {"path": "billing/dates.py"}), ("read_file", {"path": "tests/test_dates.py"})),
        ),
        "read `billing/dates.py` (months, working days, quarters) and `tests/test_dates.py`",
    ),
    Step(
        DemoReply(
            "Due dates are used by terms and invoices. Before I change one, I want to know who relies on it.",
            (("read_file", {"path": "billing/terms.py"}), ("read_file", {"path": "billing/invoice.py"})),
        ),
        "read `billing/terms.py` (`Terms.due`) and `billing/invoice.py` (`Invoice.due`, `late_by`), which use "
        "`due_date`",
    ),
    Step(
        DemoReply(
            "Reminders and the report work with late invoices, so they see the same dates.",
            (
                ("read_file", {"path": "billing/reminders.py"}),
                ("read_file", {"path": "billing/report.py"}),
                ("read_file", {"path": "billing/money.py"}),
            ),
        ),
        "read `billing/reminders.py`, `billing/report.py` and `billing/money.py`; none of them works out dates itself",
    ),
    Step(
        DemoReply(
            "Now the failure itself. I'll run the tests.", (_fix_todos(1), ("execute_command", {"command": RUN_TESTS}))
        ),
        "ran the tests: `test_a_month_after_the_31st_of_january_is_the_end_of_february` fails with "
        "`ValueError: day is out of range for month`",
    ),
    Step(
        DemoReply(
            _EXPLANATION,
            (("apply_diff", {"path": "billing/dates.py", "diff": _DIFF}),),
            thinking="31 January plus one month. date.replace keeps day=31 and February has 28 or 29. monthrange gives "
            "the length of the target month, leap years included. The import has to be added too, so two blocks.",
        ),
        "changed `add_months` in `billing/dates.py` so that the day is at most `monthrange(year, month)[1]`",
        instead=_passing_already,
    ),
    Step(
        DemoReply(
            "That should be all of it. The tests decide.",
            (_fix_todos(4), ("execute_command", {"command": RUN_TESTS})),
        ),
        "ran the tests again",
    ),
    Step(
        DemoReply("Green. The list is done.", (_todos(*(f"[x] {text}" for text in _FIX_TODOS)),)),
        "ticked off the todo list",
        instead=_still_failing,
    ),
    Step(
        _finish(
            "The failing date test is fixed.",
            "**Fixed:** `add_months` in `billing/dates.py` no longer asks for days that do not exist; 31 January plus "
            "one month is 28 or 29 February. All tests pass.\n\n"
            "**Now try what this program is for:**\n\n"
            "- Open the row *Context condensed* with Enter: the summary, and what it cost and freed. "
            "`u` on it takes it back, and once more does it again.\n"
            "- Ctrl+T (or `/condense`) condenses now.\n"
            "- Ctrl+R rewinds to any earlier point, the files included; F8 takes that back.\n"
            "- Or go on: **add a test for leap years**.",
        ),
        "finished the task and said what was done",
    ),
)

_LEAP_TEST = """\
import unittest
from datetime import date

from billing.dates import add_months, end_of_month


class LeapYears(unittest.TestCase):
    def test_february_of_a_leap_year_ends_on_the_29th(self) -> None:
        self.assertEqual(end_of_month(date(2028, 2, 3)), date(2028, 2, 29))

    def test_a_month_after_the_31st_of_january_is_the_29th_in_a_leap_year(self) -> None:
        self.assertEqual(add_months(date(2028, 1, 31), 1), date(2028, 2, 29))

    def test_a_year_after_the_29th_of_february_is_the_28th(self) -> None:
        self.assertEqual(add_months(date(2028, 2, 29), 12), date(2029, 2, 28))

    def test_a_century_is_no_leap_year(self) -> None:
        self.assertEqual(add_months(date(2100, 1, 31), 1), date(2100, 2, 28))
"""

LEAP = (
    Step(
        DemoReply(
            "Good idea: leap years are where month arithmetic goes wrong next. They get a file of their own.",
            (("write_to_file", {"path": "tests/test_leap_years.py", "content": _LEAP_TEST}),),
            thinking="Four cases matter: the 29th exists, the 31st shrinks to the 29th, the 29th shrinks to the 28th a "
            "year later, and 2100 is not a leap year.",
        ),
        "wrote `tests/test_leap_years.py` with four tests",
    ),
    Step(
        DemoReply("Do they hold? I'll run everything.", (("execute_command", {"command": RUN_TESTS}),)),
        "ran all tests",
    ),
    Step(
        _finish(
            "Leap years are covered now.",
            "**Added:** `tests/test_leap_years.py` with four tests: February's last day, the 31st and the 29th in leap "
            "years, and the year 2100. All tests pass.\n\nThe new file is part of the newest checkpoint: rewind with "
            "Ctrl+R to before it, files included, and it is gone; F8 brings it back.",
        ),
        "finished: leap years are covered",
        instead=lambda results: _unfixed(results) or _still_failing(results),
    ),
)


def _unfixed(results: str) -> DemoReply | None:
    if "day is out of range for month" not in results:
        return None
    return _finish(
        "The new tests fail, and they are right.",
        "`tests/test_leap_years.py` is written, but `add_months` still asks for days that do not exist, so some tests "
        "fail. Say **fix the failing date test** and I mend it.",
    )


REVIEW = (
    Step(
        DemoReply(
            "I'll read the due-date code as it stands now.",
            (("read_file", {"path": "billing/dates.py"}), ("search_files", {"regex": "due_date|add_months"})),
        ),
        "read `billing/dates.py` and looked for its callers",
    ),
    Step(
        _finish(
            "Here is what I would look at.",
            "1. `add_months` accepts negative months; nothing tests that, and nothing says whether it is meant.\n"
            "2. `due_date` moves a due date forward over weekends, so `Terms.due` with `at_month_end` can land in the "
            "*next* month. That may be wanted, but no test says so.\n"
            "3. `quarter` returns a bare pair; a reader has to know which number is the year.\n"
            "4. `holidays` is passed through three functions and is empty everywhere it is called.\n\n"
            "I changed nothing. These findings are scripted, like everything I say in this demo; the files and the "
            "search above are real.",
        ),
        "gave a review of the due-date code",
    ),
)

TASKS: Mapping[str, tuple[Step, ...]] = {"fix": FIX, "leap": LEAP, "review": REVIEW}

GOALS = {
    "fix": "Fix the failing date test of the package `billing`.",
    "leap": "Add a test for leap years to the package `billing`.",
    "review": "Review the due-date code of the package `billing` without changing it.",
}
