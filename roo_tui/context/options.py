"""Settings of the context window: when it is condensed, and how."""

from dataclasses import dataclass
from typing import Literal

from roo_tui.setting_field import setting


def _thresholds(text: str) -> object:
    from roo_tui.context.window.thresholds import thresholds_of

    return thresholds_of(text)


def _smart_config(text: str) -> object:
    # Imports pydantic, so only users who write their own passes wait for it at the start.
    from roo_tui.context.strategies.smart.config import parse

    return parse(text)


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """When and how the context is condensed.

    `strategy` is the id of a strategy. `smart_config` and `strategy_thresholds` are JSON text here, even if the
    settings file has tables.
    """

    auto_condense: bool = setting(
        True,
        title="Condense automatically",
        sentence="Condense without being asked when the context window is nearly full.",
    )
    threshold_percent: int | Literal["auto"] = setting(
        100,
        title="Condense threshold",
        sentence="How full the context window may get before a condense. Room for the next answer is always kept "
        "free. auto picks the point where a condense pays for itself at the model's prices.",
        unit="% of the context window",
        range=(5, 100),
        clamp=True,
        also=("auto",),
    )
    condense_prompt: str = setting(
        "",
        title="Condense prompt",
        sentence="Instructions for the summary; blank uses the built-in prompt.",
        multiline=True,
    )
    strategy: str = setting(
        "native",
        title="Strategy",
        sentence="How a condense works: native (writes a summary), smart (reduces old tool output in passes), lossless "
        "(keeps one copy of what repeats), truncation (shortens old tool results, then hides old turns), or the name "
        "of an installed strategy.",
        filled=True,
    )
    lossless_first: bool = setting(
        True,
        title="Lossless first",
        sentence="Hide duplicates before asking a model for a summary; if that frees enough, no model is asked.",
    )
    smart_preset: Literal["conservative", "balanced", "aggressive", "custom"] = setting(
        "balanced",
        title="Smart preset",
        sentence="How much the smart strategy removes; custom runs your own smart passes.",
    )
    smart_config: str = setting(
        "",
        title="Smart passes (JSON)",
        sentence="The passes of the smart strategy, used with the preset custom. In the settings file either JSON text "
        "or tables: [[context.smart_config.passes]].",
        multiline=True,
        structure=_smart_config,
    )
    trigger_tokens: int = setting(
        0,
        title="Trigger",
        sentence="Condense at this many context tokens, even below the threshold; 0 uses the threshold alone.",
        unit="tokens",
        range=(0, 10_000_000),
    )
    stop_tokens: int = setting(
        0,
        title="Target",
        sentence="The context size at which a strategy may stop; 0 stops a tenth of the context window below the "
        "trigger.",
        unit="tokens",
        range=(0, 10_000_000),
    )
    min_gain_tokens: int = setting(
        0,
        title="Smallest gain",
        sentence="Refuse a condense that frees fewer tokens than this.",
        unit="tokens",
        range=(0, 1_000_000),
    )
    strategy_thresholds: str = setting(
        "",
        title="Strategy thresholds (JSON)",
        sentence="Trigger, target and smallest gain of a single strategy, for example "
        '{"smart": {"trigger_tokens": 80000, "stop_tokens": 40000, "min_gain_tokens": 5000}}. In the settings file '
        "either JSON text or tables: [context.strategy_thresholds.smart].",
        multiline=True,
        structure=_thresholds,
    )
    fallback: Literal["outline", "truncation", "error"] = setting(
        "outline",
        title="If a condense fails",
        sentence="What to do when the context is over its limit and the condense failed: outline (a summary written "
        "without a model, then the sliding window if needed), truncation (the sliding window hides the oldest "
        "messages), or error.",
    )
    append_receipt: bool = setting(
        False,
        title="Append a receipt",
        sentence="Append to each summary the facts of the log that it does not mention.",
    )
    condense_profile: str = setting(
        "",
        title="Condense profile",
        sentence="The profile whose model writes summaries; blank uses the conversation's own. Another model may "
        "be less exact about names and tool calls.",
    )
    keep_newest_turns: int = setting(
        0,
        title="Keep the newest turns",
        sentence="How many of the newest turns a condense leaves untouched; 0 keeps only the summary.",
        unit="turns",
        range=(0, 20),
        clamp=True,
    )
    min_kept_tokens: int = setting(
        0,
        title="Keep at least",
        sentence="Leave at least this many tokens of the newest messages untouched; 0 sets no minimum.",
        unit="tokens",
        range=(0, 500_000),
        clamp=True,
    )
    background_condense: bool = setting(
        False,
        title="Condense in the background",
        sentence="Start a condense 10 % of the context window below the threshold, while the conversation goes on. The "
        "summary takes effect at the next step.",
    )
    condense_time_limit_s: int = setting(
        300,
        title="Condense time limit",
        sentence="Stop a condense (or one part of a staged condense) after this time and change nothing; 0 sets no "
        "limit.",
        unit="seconds",
        range=(0, 3_600),
        clamp=True,
    )
