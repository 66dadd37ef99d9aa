"""What the header shows: where one is, with which model, what it has cost, what is to do."""

from roo_tui.domain.views import Header
from roo_tui.engine.runtime import Runtime
from roo_tui.engine.task import OpenTask


def header_of(runtime: Runtime, task: OpenTask | None) -> Header:
    """Return the header for the open task, or for none."""
    settings, info = runtime.settings, runtime.model.info
    demo = info.provider == "demo"
    return Header(
        task_id=task.id if task else "",
        title=task.info.title if task else "",
        workspace=str(runtime.root),
        profile="demo" if demo else settings.active.name,
        model=info.id,
        cost_usd=task.cost_usd if task else 0.0,
        price_known=info.input_usd is not None,
        todos=task.todos() if task else (),
        demo=demo,
        read_only=task.read_only if task else "",
    )
