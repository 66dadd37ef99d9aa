"""The presets of the smart strategy, and the choice between them and a custom configuration.

    preset         first pass                          second                              last resort
    conservative   results ≥ 2,000 summarised          –                                   batch above 60,000
    balanced       results ≥ 1,000 summarised          inputs, results ≥ 500 cut > 50,000  batch above 40,000
    aggressive     inputs, results ≥ 300 suppressed    inputs ≥ 300, results ≥ 500 cut     batch above 35,000

Sizes are tokens of one content; the limits (above, >) are context tokens.
"""

from typing import Literal, get_args

from roo_tui.context.strategies.smart.config import (
    Batch,
    BatchSummary,
    Condition,
    Execution,
    Individual,
    Pass,
    PieceOperations,
    Selection,
    Sizes,
    SmartConfig,
    SummarizeOperation,
    SummarizeParams,
    SuppressOperation,
    TruncateOperation,
    TruncateParams,
    parse,
)
from roo_tui.domain.errors import SettingsError

Preset = Literal["conservative", "balanced", "aggressive", "custom"]
NAMES: tuple[Preset, ...] = get_args(Preset)


def _recent(count: int) -> Selection:
    return Selection(type="preserve_recent", keep_recent_count=count)


def _above(tokens: int) -> Execution:
    return Execution(type="conditional", condition=Condition(token_threshold=tokens))


def _summarise(max_tokens: int) -> SummarizeOperation:
    return SummarizeOperation(params=SummarizeParams(max_tokens=max_tokens))


def _cut(*, chars: int | None = None, lines: int | None = None) -> TruncateOperation:
    return TruncateOperation(params=TruncateParams(max_chars=chars, max_lines=lines))


def _batch(pass_id: str, name: str, recent: int, above: int, first: int, last: int) -> Pass:
    return Pass(
        id=pass_id,
        name=name,
        selection=_recent(recent),
        mode="batch",
        batch_config=Batch(operation="summarize", summarization_config=BatchSummary(keep_first=first, keep_last=last)),
        execution=_above(above),
    )


CONSERVATIVE = SmartConfig(
    passes=(
        Pass(
            id="conservative-preserve-conversation",
            name="Summarise only very large old results",
            selection=_recent(20),
            mode="individual",
            individual_config=Individual(
                defaults=PieceOperations(tool_results=_summarise(200)),
                message_token_thresholds=Sizes(tool_results=2_000),
            ),
        ),
        _batch("conservative-context-fallback", "Summarise the middle if that was not enough", 15, 60_000, 2, 12),
    )
)

BALANCED = SmartConfig(
    passes=(
        Pass(
            id="balanced-conversation-first",
            name="Summarise large old results",
            selection=_recent(12),
            mode="individual",
            individual_config=Individual(
                defaults=PieceOperations(tool_results=_summarise(150)),
                message_token_thresholds=Sizes(tool_results=1_000),
            ),
        ),
        Pass(
            id="balanced-tool-truncation",
            name="Cut old inputs and results",
            selection=_recent(8),
            mode="individual",
            individual_config=Individual(
                defaults=PieceOperations(tool_parameters=_cut(chars=200), tool_results=_cut(lines=8)),
                message_token_thresholds=Sizes(tool_parameters=500, tool_results=500),
            ),
            execution=_above(50_000),
        ),
        _batch("balanced-batch-fallback", "Summarise the middle if that was not enough", 10, 40_000, 2, 10),
    )
)

AGGRESSIVE = SmartConfig(
    passes=(
        Pass(
            id="aggressive-suppress-old-tools",
            name="Suppress old inputs and results",
            selection=_recent(25),
            mode="individual",
            individual_config=Individual(
                defaults=PieceOperations(tool_parameters=SuppressOperation(), tool_results=SuppressOperation()),
                message_token_thresholds=Sizes(tool_parameters=300, tool_results=300),
            ),
        ),
        Pass(
            id="aggressive-truncate-middle",
            name="Cut newer inputs and results",
            selection=_recent(8),
            mode="individual",
            individual_config=Individual(
                defaults=PieceOperations(tool_parameters=_cut(chars=100), tool_results=_cut(lines=4)),
                message_token_thresholds=Sizes(tool_parameters=300, tool_results=500),
            ),
        ),
        _batch("aggressive-emergency-batch", "Summarise nearly everything if that was not enough", 6, 35_000, 1, 6),
    )
)

PRESETS = {"conservative": CONSERVATIVE, "balanced": BALANCED, "aggressive": AGGRESSIVE}


def config_of(preset: str, custom: str = "") -> SmartConfig:
    """Return the preset's configuration; only the preset `custom` uses the JSON text `custom`.

    Raises:
        SettingsError: there is no such preset, or the custom configuration is not valid.
    """
    if preset in PRESETS:
        return PRESETS[preset]
    if preset == "custom":
        if not custom.strip():
            raise SettingsError("The preset custom has no smart passes. Set context.smart_config, or choose a preset.")
        try:
            return parse(custom)
        except SettingsError as error:
            raise SettingsError(f"The smart passes cannot be used: {error}.") from error
    raise SettingsError(f"There is no preset “{preset}”; choose one of {', '.join(NAMES)}.")
