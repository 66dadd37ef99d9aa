"""What the project asks of the agent, as it stands on disk now."""

import asyncio

from roo_tui.engine.project_rules import custom_commands, system_prompt
from roo_tui.engine.runtime import Runtime


async def read_project(runtime: Runtime) -> None:
    """Read the project's rules and commands: each turn, and each condense, starts from what stands there."""
    runtime.system = await asyncio.to_thread(system_prompt, runtime.root)
    runtime.commands = await asyncio.to_thread(custom_commands, runtime.root)
