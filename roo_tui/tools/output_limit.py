"""Limit long output: cut the middle, and say what is missing and how to get it."""

from dataclasses import dataclass

from roo_tui.prompt_files import render

# The end of an output (the error, the summary of a test run) matters more than its beginning.
_HEAD_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class Limited:
    """A text within the limit; `cut` says whether some of it is missing."""

    text: str
    cut: bool


def limit_output(text: str, limit: int, rest: str) -> Limited:
    """Return the beginning and end of the text, at most `limit` characters; a line between them says what is missing.

    `rest` tells the model how to get the missing part. Cuts are made at line ends if there is one nearby.
    """
    if len(text) <= limit:
        return Limited(text, False)
    head_end = int(limit * _HEAD_SHARE)
    tail_start = len(text) - (limit - head_end)
    line_end = text.rfind("\n", head_end // 2, head_end)
    head_end = line_end + 1 if line_end >= 0 else head_end
    line_end = text.find("\n", tail_start, tail_start + (len(text) - tail_start) // 2)
    tail_start = line_end + 1 if line_end >= 0 else tail_start
    missing = text[head_end:tail_start]
    lines = missing.count("\n") + (not missing.endswith("\n"))
    note = render("replies/output_cut", characters=f"{len(missing):,}", lines=f"{lines:,}", rest=rest)
    head, tail = text[:head_end], text[tail_start:]
    gap = "" if head.endswith("\n") else "\n"
    return Limited(f"{head}{gap}{note}\n{tail}", True)
