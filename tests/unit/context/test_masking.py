"""Masks within masks, and strings deep in a call's input."""

import pytest

from roo_tui.context.history.effective import masked
from roo_tui.domain.blocks import Text, ToolUse
from roo_tui.domain.markers import MaskItem


def item(start: int, end: int, placeholder: str, field: str = "") -> MaskItem:
    return MaskItem(1, 0, "input" if field else "text", start, end, placeholder, None, field)


def test_of_stretches_within_each_other_the_outer_one_counts():
    for items in ([item(2, 4, "[in]"), item(1, 6, "[out]")], [item(1, 6, "[out]"), item(1, 4, "[in]")]):
        assert masked((Text("abcdefgh"),), items) == (Text("a[out]gh"),)


def test_of_equal_stretches_the_later_one_counts():
    assert masked((Text("abcd"),), [item(1, 3, "[1]"), item(1, 3, "[2]")]) == (Text("a[2]d"),)


DEEP = {"edits": [{"a/b": "first"}, {"m~n": "second"}], "path": "x"}


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("/edits/0/a~1b", {"edits": [{"a/b": "[-]"}, {"m~n": "second"}], "path": "x"}),
        ("/edits/1/m~0n", {"edits": [{"a/b": "first"}, {"m~n": "[-]nd"}], "path": "x"}),
        ("/edits/2/x", DEEP),
        ("/edits/x", DEEP),
        ("/edits", DEEP),
        ("/path/0", DEEP),
        ("", DEEP),
    ],
)
def test_a_string_deep_in_an_input_is_named_by_its_pointer(field: str, expected: dict[str, object]):
    end = 4 if "m~0n" in field else 5
    (block,) = masked((ToolUse("c", "apply", DEEP),), [MaskItem(1, 0, "input", 0, end, "[-]", None, field)])
    assert isinstance(block, ToolUse)
    assert block.input == expected
    assert DEEP["edits"] == [{"a/b": "first"}, {"m~n": "second"}]
