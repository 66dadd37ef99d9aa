"""What every part of the engine uses: settings, model, store, workspace and services."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from roo_tui.context.window import Calibration, TokenCounter
from roo_tui.domain.views import Header
from roo_tui.engine.bus import Bus
from roo_tui.engine.model_limits import LearnedLimits
from roo_tui.engine.models import Models
from roo_tui.engine.project_rules import CustomCommand, custom_commands, system_prompt
from roo_tui.engine.questions import Questions
from roo_tui.engine.task import OpenTask
from roo_tui.llm.protocol import Model
from roo_tui.outline import Outliner
from roo_tui.settings import Settings
from roo_tui.store import Store
from roo_tui.store.checkpoints import Checkpoints
from roo_tui.workspace.files import Workspace


@dataclass(slots=True)
class Runtime:
    """The packages the engine joins, and what may change while it runs.

    `model` and `settings` are replaced when the user changes them; a running request keeps its own. With `headless`, no
    user is there and a policy answers the questions.
    """

    bus: Bus
    store: Store
    settings: Settings
    model: Model
    models: Models
    workspace: Workspace
    checkpoints: Checkpoints
    counter: TokenCounter
    calibration: Calibration
    outliner: Outliner = field(default_factory=Outliner)
    learned: LearnedLimits = field(default_factory=LearnedLimits)
    questions: Questions = field(default_factory=Questions)
    commands: dict[str, CustomCommand] = field(default_factory=dict)
    system: tuple[str, ...] = ()
    auto_approve: bool = False
    headless: bool = False

    @property
    def root(self) -> Path:
        """The workspace's folder."""
        return self.workspace.root

    async def read_project(self) -> None:
        """Read the project's rules and commands from disk. Every turn does this, and every condense."""
        self.system = await asyncio.to_thread(system_prompt, self.root)
        self.commands = await asyncio.to_thread(custom_commands, self.root)

    def header(self, task: OpenTask | None) -> Header:
        """Return the workspace, model, cost and todo progress to show for the open task, or for none."""
        info = self.model.info
        demo = info.provider == "demo"
        return Header(
            task_id=task.id if task else "",
            title=task.info.title if task else "",
            workspace=str(self.root),
            profile="demo" if demo else self.settings.active.name,
            model=info.id,
            cost_usd=task.cost_usd if task else 0.0,
            price_known=info.input_usd is not None,
            todos=task.todos() if task else (),
            demo=demo,
            read_only=task.read_only if task else "",
        )
