"""Hypothesis strategies of blocks as models, users, imports and crashes may leave them: many break a provider's rules.

Reasoning and opaque blocks come from (PROVIDER, MODEL), from another model, or from an unknown one.
"""

from hypothesis import strategies as st

from roo_tui.domain.blocks import Image, Opaque, Text, Thinking, ToolResult, ToolUse

PROVIDER, MODEL, OTHER_MODEL = "anthropic", "model-a", "model-b"

words = st.text(st.sampled_from("ab c\n\ud800é"), max_size=12) | st.just("a long sentence about the matter " * 8)
call_ids = st.sampled_from(["t1", "t2", "t3", "call.4|x", "", "t1_2"])
models = st.sampled_from([(PROVIDER, MODEL), (PROVIDER, OTHER_MODEL), ("", "")])
pictures = st.builds(Image, st.sampled_from(["image/png", "image/tiff"]), st.sampled_from(["aGk=", ""]))
thoughts = st.builds(
    lambda text, signature, of: Thinking(text, signature, *of), words, st.sampled_from(["", "signed"]), models
)
opaque = st.builds(
    lambda kind, of: Opaque(of[0], of[1], {"type": kind, "data": "x"}),
    st.sampled_from(["redacted_thinking", "document", "tool_use", "server_tool_use"]),
    models,
)
inputs = st.dictionaries(words, words | st.floats(allow_nan=False) | st.lists(st.integers(), max_size=2), max_size=2)
calls = st.builds(ToolUse, call_ids, st.sampled_from(["read_file", "odd.name", ""]), inputs)
contents = words | st.lists(st.builds(Text, words) | pictures, max_size=3).map(tuple)
results = st.builds(ToolResult, call_ids, contents, st.booleans())
user_blocks = st.lists(st.builds(Text, words) | pictures | opaque | results, max_size=3).map(tuple)
answer_blocks = st.lists(st.builds(Text, words) | thoughts | opaque | calls, max_size=4).map(tuple)
