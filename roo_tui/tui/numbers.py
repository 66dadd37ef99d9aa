"""Format tokens, money and times for the screen."""

import time
from collections.abc import Sequence

from roo_tui.tui import strings


def short_tokens(count: int) -> str:
    """Return a token count in at most five characters: `950`, `9.9k`, `172k`, `1M`, `1.2M`."""
    if count < 1_000:
        return str(count)
    if count < 9_950:
        return f"{count / 1_000:.1f}".removesuffix(".0") + "k"
    if count < 999_500:
        return f"{round(count / 1_000)}k"
    return f"{count / 1_000_000:.1f}".removesuffix(".0") + "M"


def exact(count: int) -> str:
    """Return a count with thousands separators: `148,210`."""
    return f"{count:,}"


def counted(forms: tuple[str, str], count: int) -> str:
    """Return a count with its noun: the first form for one, the second for any other number."""
    return forms[count != 1].format(count=exact(count))


def todo_count(todos: Sequence[tuple[str, str]]) -> str:
    """Return how many items of a todo list are done: `2 of 7 todos`."""
    done = sum(state == "done" for _, state in todos)
    return strings.TODO_COUNT[len(todos) != 1].format(done=done, total=len(todos))


def change_percent(before: int, after: int) -> str:
    """Return by how much a number changed: `−93 %`, `0 %`, `+5 %`."""
    change = round(100 * (after - before) / before) if before else 0
    return f"{'−' if change < 0 else '+' if change else ''}{abs(change)} %"


def money(usd: float) -> str:
    """Return an amount of US dollars with cents; less than a cent, but more than nothing, reads `<$0.01`."""
    return "<$0.01" if 0 < usd < 0.005 else f"${usd:,.2f}"


def age(at_ms: int, now_ms: int) -> str:
    """Return how long ago something happened, in the largest fitting unit."""
    minutes = max(0, now_ms - at_ms) // 60_000
    if minutes < 1:
        return strings.JUST_NOW
    if minutes < 60:
        return strings.MINUTES_AGO.format(count=minutes)
    if minutes < 48 * 60:
        return strings.HOURS_AGO.format(count=minutes // 60)
    return strings.DAYS_AGO.format(count=minutes // 1_440)


def clock(at_ms: int) -> str:
    """Return the local time of day, `10:42`."""
    return time.strftime("%H:%M", time.localtime(at_ms / 1_000))


def now_ms() -> int:
    """Return the current time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000
