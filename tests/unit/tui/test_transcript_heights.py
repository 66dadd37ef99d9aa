"""The sums of row heights agree with adding them up."""

from hypothesis import given, settings
from hypothesis import strategies as st

from roo_tui.tui.widgets.transcript.layout import Heights

_HEIGHTS = st.lists(st.integers(0, 30), max_size=60)
_CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(0, 30)),
        st.tuples(st.just("pop"), st.just(0)),
        st.tuples(st.just("set"), st.integers(0, 10_000), st.integers(0, 30)),
        st.tuples(st.just("replace"), st.integers(0, 10_000), st.integers(0, 10_000), _HEIGHTS),
    ),
    max_size=30,
)


@settings(max_examples=150, deadline=None)
@given(_HEIGHTS, _CHANGES)
def test_sums_and_places_agree_with_adding_up_after_any_changes(heights, changes):
    index, plain = Heights(heights), list(heights)
    for kind, *values in changes:
        if kind == "append":
            index.append(values[0])
            plain.append(values[0])
        elif kind == "pop" and plain:
            assert index.pop() == plain.pop()
        elif kind == "set" and plain:
            at = values[0] % len(plain)
            index[at] = plain[at] = values[1]
        elif kind == "replace":
            start, stop = sorted((values[0] % (len(plain) + 1), values[1] % (len(plain) + 1)))
            index.replace(start, stop, values[2])
            plain[start:stop] = values[2]
    assert (len(index), index.total) == (len(plain), sum(plain))
    assert [index[at] for at in range(len(plain))] == plain
    assert [index.before(at) for at in range(len(plain) + 1)] == [sum(plain[:at]) for at in range(len(plain) + 1)]
    lines = [(at, line) for at, height in enumerate(plain) for line in range(height)]
    assert [index.find(line) for line in range(len(lines))] == lines
    assert index.find(len(lines))[0] == len(plain)
