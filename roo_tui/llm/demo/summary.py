"""The demo's summary: the nine sections, filled with what the conversation really holds."""

import re

from roo_tui.domain.requests import Request
from roo_tui.llm.demo.position import human_words, note, place_to_summarise
from roo_tui.llm.demo.script import GOALS, TASKS

_EARLIER_MESSAGES = re.compile(r"6\. All user messages:\n((?:   - .*\n)+)")


def summary(request: Request) -> str:
    """Return the answer to a request for a summary."""
    place = place_to_summarise(request)
    steps = TASKS.get(place.task, ())
    done = [step.note for step in steps[: place.step]]
    coming = steps[place.step] if place.step < len(steps) else None
    goal = GOALS.get(place.task, "None")
    work = f"{done[-1][0].upper()}{done[-1][1:]}." if done else "None"
    following = f"“{coming.reply.say.splitlines()[0]}” (the next words of the script)" if coming else "None"
    fixed = any("changed `add_months`" in text for text in done)
    change = "now takes the shorter month's last day" if fixed else "not changed"
    cure = "fixed with `monthrange`" if fixed else "open"
    return f"""\
<analysis>
The conversation is part of the demo. Its words are scripted, its files and results are real. I went through it in \
order: {len(done)} steps of the current task are done{", one is next" if coming else ", none is left"}.
</analysis>

<summary>
1. Primary request and intent:
   {goal} {"Not finished." if coming else "Finished."}

2. Key technical concepts:
   - Python, standard library only; `unittest`; month arithmetic with `datetime.date`

3. Files and code sections:
   - billing/dates.py
      - `add_months(day, months)` carries every due date; {change}
   - tests/test_dates.py
      - `test_a_month_after_the_31st_of_january_is_the_end_of_february`

4. Errors and fixes:
   - `ValueError: day is out of range for month`: `date.replace` keeps day 31; {cure}

5. Problem solving:
{_list(done)}

6. All user messages:
{_list(_messages(request))}

7. Pending tasks:
   - {goal if coming else "None"}

8. Current work:
   {work} {note(place) if place.task else ""}

9. Optional next step:
   {following}
</summary>"""


def _messages(request: Request) -> list[str]:
    """Return what the person said, an earlier summary's list first; the last text is the request for the summary."""
    earlier: list[str] = []
    said: list[str] = []
    for message in request.messages:
        if message.role != "user":
            continue
        blocks = message.blocks[:-1] if message is request.messages[-1] else message.blocks
        for block in blocks:
            found = _EARLIER_MESSAGES.search(getattr(block, "text", ""))
            if found:
                earlier = [line.removeprefix("   - ") for line in found[1].splitlines()]
        words = human_words(type(message)(message.role, blocks))
        if words:
            said.append(" ".join(words.split())[:300])
    return [*earlier, *said]


def _list(items: list[str]) -> str:
    return "\n".join(f"   - {item}" for item in items or ["None"])
