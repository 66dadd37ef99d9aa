"""The demo's script: what its model says and which tools it calls, step by step. Everything else in the demo is real.

The text of each step is unique, so a conversation shows how far the script has come.
"""

import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from roo_tui.domain.json_value import JsonValue

RUN_TESTS = f"{shlex.quote(sys.executable)} -m unittest -v"

Call = tuple[str, Mapping[str, JsonValue]]


@dataclass(frozen=True, slots=True)
class DemoReply:
    """One answer: reasoning (may be empty), text, and calls as (tool, input) pairs."""

    say: str
    calls: tuple[Call, ...] = ()
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a task. `note` describes it in a summary.

    `instead` takes the text of the previous step's results and returns another reply if this step does not fit them.
    """

    reply: DemoReply
    note: str
    instead: Callable[[str], DemoReply | None] | None = None

    def answer(self, results: str) -> DemoReply:
        """Return this step's reply to the previous step's results."""
        return (self.instead and self.instead(results)) or self.reply


def _finish(say: str, result: str) -> DemoReply:
    return DemoReply(say, (("attempt_completion", {"result": result}),))


def _todos(*items: str) -> Call:
    return "update_todo_list", {"todos": "\n".join(items)}


def _passing_already(results: str) -> DemoReply | None:
    if "\nOK" not in results:
        return None
    return _finish(
        "All tests pass, so there is nothing left to fix.",
        "All tests already pass, so I changed nothing. To see the fix again, rewind to your first message with Ctrl+R, "
        "files included.",
    )


def _still_failing(results: str) -> DemoReply | None:
    if "FAILED" not in results:
        return None
    return _finish(
        "Some tests still fail, and my script ends here.",
        "The tests still fail. I am a scripted demo and cannot investigate; the output of the last command shows which "
        "test fails. To start again, rewind to your first message with Ctrl+R.",
    )


def stopped_by(error: str) -> DemoReply:
    """Return the reply to a call that failed or was denied; `error` is its result."""
    quoted = "\n".join(f"> {line}" for line in error.strip().splitlines()[:4])
    return DemoReply(
        "That call did not go through, so I stop here rather than guess. This is the result:\n\n"
        f"{quoted}\n\nSay **continue** and I'll try the same step again, or rewind with Ctrl+R."
    )


NOT_SCRIPTED = DemoReply(
    "This is the demo: my answers are scripted, there is no model behind them, and none of them fits your message. "
    "Here is what I can do:\n\n"
    "- **Fix the failing date test**: the task this demo is built around\n"
    "- **Add a test for leap years**: a second task, with a new file\n"
    "- **/review**: one of the project's own commands\n"
    "- **continue**: pick up where I was interrupted\n\n"
    "Everything but my answers is real: the tools, the approvals, the context bar, condensing, undo and rewind. "
    "For a real conversation, quit with Ctrl+Q, set `ANTHROPIC_API_KEY` and start without `--demo`."
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
Found it. The failing test asks for the date one month after **31 January**:

```
ValueError: day is out of range for month
```

`add_months` keeps the day of the month and changes only the year and the month:

```python
def add_months(day: date, months: int) -> date:
    index = day.month - 1 + months
    return day.replace(year=day.year + index // 12, month=index % 12 + 1)
```

There is no 31 February, so `replace` raises an error. The docstring promises otherwise, *“or the last day of that \
month if it is shorter”*, and every caller relies on that promise:

| caller | what goes wrong at the end of a long month |
| --- | --- |
| `due_date` | raises an error instead of returning a date |
| `Terms.due` | the same, whatever the terms |
| `Invoice.due` | an invoice issued on 31 January cannot be printed |

`calendar.monthrange` gives the length of the month. I'll use it as the upper limit for the day:"""

_FIX_TODOS = ("Explore the project", "Run the tests", "Find the cause", "Fix it", "Run the tests again")


def _fix_todos(done: int) -> Call:
    marks = ["[x]"] * done + ["[-]"] + ["[ ]"] * len(_FIX_TODOS)
    return _todos(*(f"{mark} {text}" for mark, text in zip(marks, _FIX_TODOS, strict=False)))


FIX = (
    Step(
        DemoReply(
            "I'll make a plan, then look at the project before I change anything.",
            (_fix_todos(0),),
            thinking="A failing test about dates. I don't know the project yet: list its files, read those that deal "
            "with dates, run the tests to see the actual failure, and only then change something. The rules ask for a "
            "run of `python -m unittest -v` before I say that something works.",
        ),
        "made a todo list",
    ),
    Step(
        DemoReply("Let me see what is here.", (("list_files", {"path": ".", "recursive": True}),)),
        "listed the project's files",
    ),
    Step(
        DemoReply(
            "The date code is in `billing/dates.py`, and its tests show what it should do. I'll read both.",
            (("read_file", {"path": "billing/dates.py"}), ("read_file", {"path": "tests/test_dates.py"})),
        ),
        "read `billing/dates.py` (months, working days, quarters) and `tests/test_dates.py`",
    ),
    Step(
        DemoReply(
            "Terms and invoices use due dates. Before I change anything, I want to know what relies on them.",
            (("read_file", {"path": "billing/terms.py"}), ("read_file", {"path": "billing/invoice.py"})),
        ),
        "read `billing/terms.py` (`Terms.due`) and `billing/invoice.py` (`Invoice.due`, `late_by`), which use "
        "`due_date`",
    ),
    Step(
        DemoReply(
            "Reminders and the report deal with late invoices, so they depend on the same dates.",
            (
                ("read_file", {"path": "billing/reminders.py"}),
                ("read_file", {"path": "billing/report.py"}),
                ("read_file", {"path": "billing/money.py"}),
            ),
        ),
        "read `billing/reminders.py`, `billing/report.py` and `billing/money.py`; none of them computes dates itself",
    ),
    Step(
        DemoReply(
            "Now I'll run the tests to see the failure itself.",
            (_fix_todos(1), ("execute_command", {"command": RUN_TESTS})),
        ),
        "ran the tests: `test_a_month_after_the_31st_of_january_is_the_end_of_february` fails with "
        "`ValueError: day is out of range for month`",
    ),
    Step(
        DemoReply(
            _EXPLANATION,
            (("apply_diff", {"path": "billing/dates.py", "diff": _DIFF}),),
            thinking="31 January plus one month: date.replace keeps day=31, but February has 28 or 29 days. monthrange "
            "gives the length of the target month, leap years included. The import has to be added too, so two blocks.",
        ),
        "changed `add_months` in `billing/dates.py` so that the day is at most `monthrange(year, month)[1]`",
        instead=_passing_already,
    ),
    Step(
        DemoReply(
            "That should be the whole fix. The tests will tell.",
            (_fix_todos(4), ("execute_command", {"command": RUN_TESTS})),
        ),
        "ran the tests again",
    ),
    Step(
        DemoReply("All tests pass. I'll tick off the list.", (_todos(*(f"[x] {text}" for text in _FIX_TODOS)),)),
        "ticked off the todo list",
        instead=_still_failing,
    ),
    Step(
        _finish(
            "The failing date test is fixed.",
            "**Fixed:** `add_months` in `billing/dates.py` no longer produces days that do not exist: 31 January plus "
            "one month is 28 or 29 February. All tests pass.\n\n"
            "**Now try what roo-tui is made for:**\n\n"
            "- Select the row *Context condensed* and press Enter to read the summary and see what the condense cost "
            "and freed. `u` on the row undoes the condense, and `u` again redoes it.\n"
            "- Ctrl+T (or `/condense`) condenses now.\n"
            "- Ctrl+R rewinds to any earlier point, with or without the files; F8 undoes the rewind.\n"
            "- Or carry on: **add a test for leap years**.",
        ),
        "finished the task and reported the result",
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

    def test_a_century_is_not_a_leap_year(self) -> None:
        self.assertEqual(add_months(date(2100, 1, 31), 1), date(2100, 2, 28))
"""

LEAP = (
    Step(
        DemoReply(
            "Good idea: leap years are where month arithmetic tends to go wrong next. They get their own test file.",
            (("write_to_file", {"path": "tests/test_leap_years.py", "content": _LEAP_TEST}),),
            thinking="Four cases matter: February ends on the 29th, the 31st becomes the 29th, the 29th becomes the "
            "28th a year later, and 2100 is not a leap year.",
        ),
        "wrote `tests/test_leap_years.py` with four tests",
    ),
    Step(
        DemoReply("Do they pass? I'll run all the tests.", (("execute_command", {"command": RUN_TESTS}),)),
        "ran all tests",
    ),
    Step(
        _finish(
            "Leap years are covered now.",
            "**Added:** `tests/test_leap_years.py` with four tests: the last day of February, the 31st and the 29th in "
            "leap years, and the year 2100. All tests pass.\n\nThe newest checkpoint includes the new file. Rewind to "
            "before it with Ctrl+R, files included, and the file is gone; F8 brings it back.",
        ),
        "finished: leap years are covered",
        instead=lambda results: _unfixed(results) or _still_failing(results),
    ),
)


def _unfixed(results: str) -> DemoReply | None:
    if "day is out of range for month" not in results:
        return None
    return _finish(
        "The new tests fail, as they should.",
        "I wrote `tests/test_leap_years.py`, but `add_months` still produces days that do not exist, so some tests "
        "fail. Say **fix the failing date test** and I'll fix it.",
    )


REVIEW = (
    Step(
        DemoReply(
            "I'll read the current due-date code.",
            (("read_file", {"path": "billing/dates.py"}), ("search_files", {"regex": "due_date|add_months"})),
        ),
        "read `billing/dates.py` and searched for its callers",
    ),
    Step(
        _finish(
            "Here is what I found.",
            "1. `add_months` accepts negative months, but nothing tests or documents that.\n"
            "2. `due_date` moves a due date forward past weekends, so `Terms.due` with `at_month_end` can land in the "
            "*next* month. That may be intended, but no test says so.\n"
            "3. `quarter` returns a bare tuple; readers have to know which number is the year.\n"
            "4. `holidays` is passed through three functions, but the library itself never supplies any.\n\n"
            "I changed nothing. These findings are scripted, like everything I say in this demo; the files and the "
            "search above are real.",
        ),
        "reviewed the due-date code",
    ),
)

TASKS: Mapping[str, tuple[Step, ...]] = {"fix": FIX, "leap": LEAP, "review": REVIEW}

GOALS = {
    "fix": "Fix the failing date test in the `billing` package.",
    "leap": "Add a test for leap years to the `billing` package.",
    "review": "Review the due-date code in the `billing` package without changing it.",
}
