"""What every part of the engine works with: the rooms, joined once, and what may change while it runs."""

from dataclasses import dataclass, field
from pathlib import Path

from roo_tui.context.window.tokens import Calibration, TokenCounter
from roo_tui.engine.bus import Bus
from roo_tui.engine.model_limits import StatedLimits
from roo_tui.engine.models import Models
from roo_tui.engine.project_rules import CustomCommand
from roo_tui.engine.questions import Questions
from roo_tui.llm.protocol import Model
from roo_tui.outline import Outliner
from roo_tui.settings import Settings
from roo_tui.store import Store
from roo_tui.store.checkpoints import Checkpoints
from roo_tui.workspace.files import Workspace


@dataclass(slots=True)
class Runtime:
    """`model` and `settings` are replaced when the person changes them; a running request keeps what it began with."""

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
    stated: StatedLimits = field(default_factory=StatedLimits)
    questions: Questions = field(default_factory=Questions)
    commands: dict[str, CustomCommand] = field(default_factory=dict)
    system: tuple[str, ...] = ()
    auto_approve: bool = False
    headless: bool = False

    @property
    def root(self) -> Path:
        return self.workspace.root
