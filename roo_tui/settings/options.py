"""Settings of approvals, checkpoints, hooks and the appearance of the app."""

from dataclasses import dataclass
from typing import Literal

from roo_tui.setting_field import setting

Policy = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class ApprovalOptions:
    """Which tool calls are allowed, need an approval or are denied: one permission mode for each class of effect."""

    read: Policy = setting(
        "allow",
        title="Reading",
        sentence="Whether the agent may read, list and search files in the workspace.",
    )
    edit: Policy = setting("ask", title="Editing", sentence="Whether the agent may change files in the workspace.")
    command: Policy = setting("ask", title="Commands", sentence="Whether the agent may run commands.")
    allowed_commands: tuple[str, ...] = setting(
        (),
        title="Allowed commands",
        sentence="Commands that run without approval, given by their beginning, for example “git status”.",
    )


@dataclass(frozen=True, slots=True)
class CheckpointOptions:
    """Whether checkpoints of the workspace's files are taken."""

    enabled: bool = setting(
        True,
        title="Checkpoints",
        sentence="Save the workspace's files as the agent works, so that a rewind can restore them.",
    )


@dataclass(frozen=True, slots=True)
class HookOptions:
    """Commands that run before and after a condense. Each gets a JSON object on its standard input."""

    before_condense: tuple[str, ...] = setting(
        (),
        title="Before a condense",
        sentence="Commands that can stop a condense or add instructions to it.",
    )
    after_condense: tuple[str, ...] = setting(
        (),
        title="After a condense",
        sentence="Commands that receive the result of a condense.",
    )


@dataclass(frozen=True, slots=True)
class AppearanceOptions:
    """How the app looks, and whether it uses the mouse."""

    theme: str = setting(
        "",
        title="Theme",
        sentence="The name of a colour theme; blank uses the built-in one.",
    )
    mouse: bool = setting(
        True,
        title="Mouse",
        sentence="Use the mouse in the app; when off, the terminal's own text selection works.",
    )
