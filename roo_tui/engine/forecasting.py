"""What a condense would cost and free, before it is made."""

import asyncio

from roo_tui.context.condense import preview as forecast
from roo_tui.context.condense.condense import prepare
from roo_tui.context.reduction_input import Situation
from roo_tui.domain.views import Forecast
from roo_tui.engine.runtime import Runtime

_LABELS = {
    "fresh": "condense, new request",
    "cached": "condense, from the prompt cache",
    "staged": "condense, in parts",
    "mask": "mask repeated contents",
}


async def forecasts(runtime: Runtime, situation: Situation) -> tuple[Forecast, ...]:
    """Return what each way to condense now would come to; the one that would be taken is the first.

    Raises:
        CondenseRefused: there is nothing to condense, or nothing to gain.
    """
    plan = await asyncio.to_thread(prepare, situation, runtime.counter, runtime.settings.context)
    return tuple(_shown(found, number == 0) for number, found in enumerate(plan.forecasts))


def _shown(found: forecast.Forecast, chosen: bool) -> Forecast:
    return Forecast(
        label=_LABELS[found.shape],
        tokens_before=found.tokens_before,
        tokens_after=found.tokens_after,
        cost_usd=found.cost_usd,
        saving_per_turn_usd=found.saving_per_turn_usd,
        turns_to_pay_back=found.turns_to_pay_back,
        note="this is what will be done" if chosen else "",
    )
