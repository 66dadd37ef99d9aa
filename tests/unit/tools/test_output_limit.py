from hypothesis import given, settings
from hypothesis import strategies as st

from roo_tui.tools.output_limit import limit_output


def test_short_output_is_left_as_it_is() -> None:
    assert limit_output("x" * 100, 100, "…").text == "x" * 100
    assert not limit_output("", 0, "…").cut


def test_the_note_says_what_is_missing_and_how_to_get_it() -> None:
    text = "".join(f"line {number}\n" for number in range(1000))
    limited = limit_output(text, 200, "Look in the file.")
    assert limited.text == (
        "".join(f"line {number}\n" for number in range(11))
        + "[… 8,695 characters (976 lines) are left out here. Look in the file. …]\n"
        + "".join(f"line {number}\n" for number in range(987, 1000))
    )


@settings(max_examples=200)
@given(text=st.text("ab\n", max_size=400), limit=st.integers(1, 200))
def test_beginning_and_end_are_kept_and_the_count_is_right(text: str, limit: int) -> None:
    limited = limit_output(text, limit, "R")
    assert limited.cut == (len(text) > limit)
    if not limited.cut:
        assert limited.text == text
        return
    head, _, rest = limited.text.partition("[… ")
    note, _, tail = rest.partition(" …]\n")
    missing = int(note.split()[0])
    assert text.endswith(tail)
    assert text.startswith((head, head.removesuffix("\n")))
    kept_head = head if text.startswith(head) and len(head) + missing + len(tail) == len(text) else head[:-1]
    assert len(kept_head) + missing + len(tail) == len(text)
    assert len(kept_head) + len(tail) <= limit
