"""Settings of condensing. Each field's metadata feeds validation, the settings screen and the documentation."""

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """When and how the context is condensed. A field without metadata is not offered as a setting.

    `strategy` names how a condense works.
    """

    auto_condense: bool = field(
        default=True,
        metadata={"title": "Condense automatically", "sentence": "Condense by itself when the context is nearly full."},
    )
    threshold_percent: int | Literal["auto"] = field(
        default=100,
        metadata={
            "title": "Condense threshold",
            "sentence": "How full the context window may get before it is condensed; the space the next answer needs "
            "is kept free in any case. auto: where a condense pays back at the model's prices.",
            "unit": "% of the context window",
            "range": (5, 100),
            "clamp": True,
            "also": ("auto",),
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
    strategy: str = field(
        default="native",
        metadata={
            "title": "Strategy",
            "sentence": "How a condense works: native (a summary), smart (passes over old tool output), lossless (what "
            "stands twice is shown once), truncation, or the name of an installed one.",
            "filled": True,
        },
    )
    lossless_first: bool = field(
        default=True,
        metadata={
            "title": "Lossless first",
            "sentence": "Before a model is asked, mask what stands twice, if that alone makes enough room.",
        },
    )
    smart_preset: Literal["conservative", "balanced", "aggressive", "custom"] = field(
        default="balanced",
        metadata={
            "title": "Preset of smart",
            "sentence": "How much the smart strategy takes; custom uses the passes below.",
        },
    )
    smart_config: str = field(
        default="",
        metadata={
            "title": "Passes of smart",
            "sentence": "A configuration as JSON, used only with the preset custom.",
            "multiline": True,
        },
    )
    trigger_tokens: int = field(
        default=0,
        metadata={
            "title": "Trigger in tokens",
            "sentence": "Condense from this count on, besides the threshold; 0 means by the threshold alone.",
            "unit": "tokens",
            "range": (0, 10_000_000),
        },
    )
    stop_tokens: int = field(
        default=0,
        metadata={
            "title": "Stop in tokens",
            "sentence": "Where a strategy may stop; 0 means a tenth of the window below the trigger.",
            "unit": "tokens",
            "range": (0, 10_000_000),
        },
    )
    min_gain_tokens: int = field(
        default=0,
        metadata={
            "title": "Smallest gain",
            "sentence": "A condense that frees less is refused.",
            "unit": "tokens",
            "range": (0, 1_000_000),
        },
    )
    strategy_thresholds: str = field(
        default="",
        metadata={
            "title": "Thresholds of single strategies",
            "sentence": "Trigger, stop and smallest gain for one strategy, as JSON, for example "
            '{"smart": {"trigger_tokens": 80000, "stop_tokens": 40000, "min_gain_tokens": 5000}}.',
            "multiline": True,
        },
    )
    fallback: Literal["outline", "truncation", "error"] = field(
        default="truncation",
        metadata={
            "title": "When a condense fails",
            "sentence": "What happens when the context is over its limit and condensing it failed: an outline made "
            "from the log without a model (then truncation if need be), truncation, or an error.",
        },
    )
    append_receipt: bool = field(
        default=False,
        metadata={
            "title": "Append the receipt",
            "sentence": "Add what the log knows and the summary does not say to the summary message.",
        },
    )
    condense_profile: str = field(
        default="",
        metadata={
            "title": "Condense profile",
            "sentence": "The profile whose model writes summaries; blank means the conversation's own. Another "
            "model may render names and tool calls less faithfully.",
        },
    )
    keep_newest_turns: int = field(
        default=0,
        metadata={
            "title": "Keep the newest turns",
            "sentence": "How many of the newest turns a condense leaves as they are; 0 is a fresh start from the "
            "summary.",
            "unit": "turns",
            "range": (0, 20),
            "clamp": True,
        },
    )
    min_kept_tokens: int = field(
        default=0,
        metadata={
            "title": "Smallest size to keep",
            "sentence": "How many tokens a condense leaves at least: newest messages stay as they are until it is "
            "reached; 0 sets no minimum.",
            "unit": "tokens",
            "range": (0, 500_000),
            "clamp": True,
        },
    )
    background_condense: bool = field(
        default=False,
        metadata={
            "title": "Condense in the background",
            "sentence": "Begin 10 % of the window before the threshold, while the conversation goes on, and put the "
            "summary in place at the next step.",
        },
    )
    condense_time_limit_s: int = field(
        default=300,
        metadata={
            "title": "Time limit of a condense",
            "sentence": "How long a condense (or each part of a staged one) may take before it is given up and "
            "nothing is changed; 0 sets no limit.",
            "unit": "seconds",
            "range": (0, 3_600),
            "clamp": True,
        },
    )
