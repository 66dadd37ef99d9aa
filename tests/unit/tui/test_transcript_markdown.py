"""Markdown in portions is drawn like the whole; wrapping loses nothing; code keeps its words."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.color import Color

from roo_tui.tui.widgets.views.canvas import GUTTER, Canvas, Line, fit, fold_cells, strip, wrap
from roo_tui.tui.widgets.views.code import Code, code_pieces
from roo_tui.tui.widgets.views.markdown import markdown_pieces
from roo_tui.tui.widgets.views.markdown_stream import MarkdownStream
from roo_tui.tui.widgets.views.palette import Palette

_PALETTE = Palette.of(
    {"primary": "#0178D4", "foreground": "#E0E0E0", "text-error": "#D17E92", "text-success": "#8AD4A1"},
    Color(18, 18, 18),
)
_CANVAS = Canvas(60, _PALETTE)

ANSWER = """# Dates

The test *fails* because `parse` drops the zone, see [the docs](https://example.org/a) or [bold]this[/bold].
Second line of the paragraph.
- one
- two, with `code` and a long text that has to be wrapped because it does not fit into sixty cells
  - nested

    more of it
- three

1. first
2. second
   ```sh
   make test

   make run
   ```

```python
def parse(value: str) -> datetime:
    \"\"\"Say it
    in two lines.\"\"\"
    return value  # 日本語
```
> quoted
> words

| a | b |
|---|--:|
| 1 | two words |

~~~
unfinished fence
"""

_LINES = st.sampled_from(
    [
        *(
            "",
            "words of a paragraph",
            "- item",
            "  continued",
            "    indented",
            "* other",
            "1. first",
            "3) third",
            "> quote",
        ),
        *(
            "```",
            "```py",
            "~~~",
            "    ```",
            "  ```",
            "# Heading",
            "---",
            "| a | b |",
            "|---|---|",
            "def f(): return '''x",
        ),
        *(
            "/* comment",
            "*/ x = 1",
            "\x1b[31mred\x1b[0m",
            "[bold]x[/]",
            "<b>",
            "a\tb",
            "é日本🎉",
            "**open",
            "`tick",
            "\\",
        ),
    ]
)


def _drawn(pieces):
    return [
        strip(line, [], _PALETTE.background, _CANVAS, _PALETTE.background)
        for piece in pieces
        for line in piece.draw(_CANVAS)
    ]


def _plain(strips):
    """Text and looks without what Rich draws by lot: the ids of links."""
    return [
        [(text, style and (style.color, style.bgcolor, style._attributes)) for text, style, _ in each]
        for each in strips
    ]


def _streamed(text: str, cuts: list[int]) -> list[object]:
    stream = MarkdownStream()
    ends = sorted({cut % (len(text) + 1) for cut in cuts} | {len(text)})
    start = 0
    for end in ends:
        stream.add(text[start:end])
        start = end
        _drawn(stream.pieces())
    stream.close()
    assert stream.text == text
    return _plain(_drawn(stream.pieces()))


@settings(max_examples=120, deadline=None)
@given(st.lists(_LINES, max_size=25).map("\n".join), st.lists(st.integers(0, 10_000), max_size=12))
@example(ANSWER, [1, 2, 3, 100, 101, 250, 400, 401, 500])
@example("```python\n" + "x = '''a\n" * 60 + "```\nafter", [200, 201, 300])
def test_markdown_in_any_portions_is_drawn_like_the_whole(text, cuts):
    assert _streamed(text, cuts) == _plain(_drawn(markdown_pieces(fit(text))))


def test_one_character_at_a_time_is_drawn_like_the_whole():
    assert _streamed(ANSWER, list(range(len(ANSWER)))) == _plain(_drawn(markdown_pieces(fit(ANSWER))))


def test_every_word_of_an_answer_is_shown():
    shown = "\n".join(each.text for each in _drawn(markdown_pieces(fit(ANSWER))))
    for word in (
        "Dates",
        "[bold]this[/bold]",
        "the docs",
        "nested",
        "more of it",
        "make run",
        "in two lines",
        "unfinished fence",
    ):
        assert word in shown


def test_links_carry_their_address_only_for_the_web():
    pieces = markdown_pieces("[a](https://example.org) [b](javascript:x) [c](file:///etc/passwd)")
    links = [style.link for line in pieces[0].draw(_CANVAS) for _, style in line.spans if style.link]
    assert links == ["https://example.org"]


@settings(max_examples=150, deadline=None)
@given(st.text("ab é日本🎉\u0301 \n", max_size=120), st.integers(2, 30))
def test_wrapping_fits_and_loses_only_blanks(text, width):
    lines = wrap([(text[:40], _PALETTE.text), (text[40:], _PALETTE.code)], width)
    assert all(cell_len("".join(part for part, _ in line)) <= width for line in lines)
    assert "".join(part for line in lines for part, _ in line).replace(" ", "") == text.replace(" ", "").replace(
        "\n", ""
    )


@settings(max_examples=100, deadline=None)
@given(st.text("ab é日本🎉\u0301\t", max_size=80), st.integers(2, 30))
def test_folding_fits_and_loses_nothing(text, width):
    lines = list(fold_cells([(text[:20], _PALETTE.text), (text[20:], _PALETTE.code)], width))
    assert all(cell_len("".join(part for part, _ in line)) <= width for line in lines)
    assert "".join(part for line in lines for part, _ in line) == text


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.text("ab 日 ", max_size=12), st.sampled_from([_PALETTE.text, _PALETTE.link])), max_size=5))
def test_a_line_fills_the_width_exactly(spans):
    made = strip(Line(spans), [("   ", _PALETTE.faint)], _PALETTE.background, _CANVAS, _PALETTE.background)
    assert sum(cell_len(text) for text, _, _ in made) == made.cell_length == _CANVAS.width + GUTTER


@pytest.mark.parametrize(
    "language", ["python", "javascript", "typescript", "html", "yaml", "json", "diff", "c", "rust", "nope", ""]
)
def test_colouring_line_by_line_keeps_every_character(language):
    lines = [
        "def f(x): /* a",
        "b */ return `x${1}`; '''open",
        "<!-- c",
        "--> <a href='x'>",
        "key: [1, 2]",
        "\x00\ud800{",
        "",
    ]
    spans = Code(lines, language).spans(0, len(lines), _PALETTE)
    assert ["".join(text for text, _ in line) for line in spans] == lines


def test_a_block_comment_goes_on_over_lines():
    spans = Code(["x(); /* one", "two", "three */ y()"], "javascript").spans(0, 3, _PALETTE)
    assert spans[1] == [("two", _PALETTE.comment)]
    assert spans[2][0] == ("three */", _PALETTE.comment)
    assert spans[2][-1][1] is not _PALETTE.comment


def test_the_middle_of_a_long_code_is_coloured_without_its_beginning():
    code = Code([f"x = {at}" for at in range(5_000)], "python")
    assert "".join(text for text, _ in code.spans(4_000, 4_001, _PALETTE)[0]) == "x = 4000"
    assert len(code._tokens) == 0
    assert sum(piece.stop - piece.start for piece in code_pieces(code.lines, "python")) == 5_000


def test_a_line_of_five_megabytes_is_cut_with_a_note():
    text = fit("x" * 5_000_000)
    assert len(text) < 500_000
    assert "characters not shown" in text
    assert "more characters" in text
