"""Settings of condensing. Each field's metadata feeds validation, the settings screen and the documentation."""

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """When and how the context is condensed. A field without metadata is not offered as a setting.

    `strategy` names how a condense works; `condense_profile` the profile whose model writes summaries, blank for the
    conversation's own.
    """

    auto_condense: bool = field(
        default=True,
        metadata={"title": "Condense automatically", "sentence": "Condense by itself when the context is nearly full."},
    )
    threshold_percent: int = field(
        default=100,
        metadata={
            "title": "Condense threshold",
            "sentence": "How full the context window may get before it is condensed; the space the next answer needs "
            "is kept free in any case.",
            "unit": "% of the context window",
            "range": (5, 100),
            "clamp": True,
        },
    )
    condense_prompt: str = field(
        default="",
        metadata={
            "title": "Condense prompt",
            "sentence": "Instructions for the summary; blank means the built-in ones.",
            "multiline": True,
        },
    )
    strategy: str = "native"
    fallback: Literal["outline", "truncation", "error"] = field(
        default="truncation",
        metadata={
            "title": "When a condense fails",
            "sentence": "What happens when the context is over its limit and condensing it failed.",
            "choices": ("truncation", "error"),
        },
    )
    append_receipt: bool = field(
        default=False,
        metadata={
            "title": "Append the receipt",
            "sentence": "Add what the log knows and the summary does not say to the summary message.",
        },
    )
    condense_profile: str = ""
