"""The command line: connect arguments, settings, engine and a front end, importing only what the call needs."""

import argparse
import os
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from roo_tui import __version__
from roo_tui.arguments import command_parser, main_parser, split_command

if TYPE_CHECKING:
    from roo_tui.engine import Engine
    from roo_tui.headless.doctor import Probe
    from roo_tui.headless.exit_codes import ExitCode
    from roo_tui.settings import Settings


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code (`headless.exit_codes`); invalid arguments raise `SystemExit`."""
    words = list(sys.argv[1:] if argv is None else argv)
    command, words = split_command(words)
    arguments = (command_parser(command) if command else main_parser()).parse_args(words)
    if arguments.version:
        print(f"roo-tui {__version__}")
        return 0
    return _guarded(command, arguments)


def _guarded(command: str, arguments: argparse.Namespace) -> int:
    """Run the call and turn every error into a sentence and an exit code; tracebacks go to the log file."""
    import asyncio
    import logging

    from roo_tui import logs
    from roo_tui.domain.errors import RooError
    from roo_tui.headless.exit_codes import ExitCode, code_of

    log = logs.set_up()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        return int(_HANDLERS[command](arguments) if command else _start(arguments))
    except RooError as error:
        return int(_complain(arguments, str(error), code_of(error)))
    except (KeyboardInterrupt, asyncio.CancelledError):
        return int(ExitCode.CANCELLED)
    except BrokenPipeError:
        # The reader of the output has gone: print nothing more, and keep Python from failing when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.FAILED)
    except Exception as error:
        logging.getLogger(__name__).exception("unexpected error")
        sentence = f"Unexpected error ({type(error).__name__}: {error}). Details are in {log}"
        return int(_complain(arguments, sentence, ExitCode.FAILED))


def _complain(arguments: argparse.Namespace, sentence: str, code: "ExitCode") -> "ExitCode":
    """Print what went wrong; with JSON output, also as the object that ends a run."""
    from roo_tui.plain_text import clean

    if getattr(arguments, "output", "text") != "text":
        from roo_tui.headless.as_json import encode
        from roo_tui.headless.run_result import RunResult

        print(encode(RunResult(message=sentence, code=code).result()))
    print(f"roo-tui: {clean(sentence)}", file=sys.stderr)
    return code


def _start(arguments: argparse.Namespace) -> int:
    workspace = _workspace(arguments)
    settings = _settings(arguments, workspace)
    if arguments.prompt is not None:
        return _run_prompt(arguments, workspace, settings)
    from roo_tui.tui.app import run

    return run(
        workspace,
        settings,
        demo=arguments.demo,
        auto_approve=arguments.auto_approve,
        resume=_full_id(arguments.resume)[0] if arguments.resume else "",
        latest=arguments.latest,
    )


def _run_prompt(arguments: argparse.Namespace, workspace: Path, settings: "Settings") -> int:
    from roo_tui.headless.output import output
    from roo_tui.headless.run import run_prompt

    _require_key(settings, demo=arguments.demo)
    engine = _engine(workspace, settings, demo=arguments.demo, auto_approve=arguments.auto_approve)
    return _asyncio_run(
        run_prompt(
            engine,
            arguments.prompt,
            output(arguments.output, engine.read.rows_of, sys.stdout, sys.stderr),
            auto_approve=arguments.auto_approve,
            task_id=_full_id(arguments.resume)[0] if arguments.resume else "",
            latest=arguments.latest,
        )
    )


def _tasks(arguments: argparse.Namespace) -> int:
    from roo_tui.headless.tasks import list_tasks

    engine = _engine(Path.cwd(), _settings(arguments, None))
    return _asyncio_run(list_tasks(engine, sys.stdout, as_json=arguments.json))


def _import(arguments: argparse.Namespace) -> int:
    from roo_tui.headless.tasks import import_task

    engine = _engine(Path.cwd(), _settings(arguments, Path.cwd()))
    return _asyncio_run(import_task(engine, arguments.path, arguments.format, sys.stdout))


def _export(arguments: argparse.Namespace) -> int:
    from roo_tui.headless.tasks import export_task

    engine, task_id = _engine_of_task(arguments)
    return _asyncio_run(export_task(engine, task_id, arguments.view, arguments.format, sys.stdout))


def _condense(arguments: argparse.Namespace) -> int:
    from roo_tui.domain.previews import CondenseRequest
    from roo_tui.headless.tasks import condense_task, preview_condense

    engine, task_id = _engine_of_task(arguments, needs_key=not arguments.dry_run)
    request = CondenseRequest(arguments.instructions, arguments.strategy, arguments.preset)
    run = preview_condense if arguments.dry_run else condense_task
    return _asyncio_run(run(engine, task_id, sys.stdout, request, as_json=arguments.json))


def _rewind(arguments: argparse.Namespace) -> int:
    from roo_tui.headless.tasks import rewind_task

    engine, task_id = _engine_of_task(arguments)
    return _asyncio_run(rewind_task(engine, task_id, arguments.point, sys.stdout, files=arguments.files))


def _undo(arguments: argparse.Namespace) -> int:
    from roo_tui.headless.tasks import undo_task

    engine, task_id = _engine_of_task(arguments)
    return _asyncio_run(undo_task(engine, task_id, sys.stdout))


def _context(arguments: argparse.Namespace) -> int:
    from roo_tui.headless.stats import show_context

    engine, task_id = _engine_of_task(arguments)
    return _asyncio_run(show_context(engine, task_id, sys.stdout, as_json=arguments.json))


def _bench(arguments: argparse.Namespace) -> int:
    from roo_tui.headless.stats import show_comparison

    settings = _settings(arguments, Path.cwd())
    if arguments.ask:
        _require_key(settings, demo=False)
    engine = _engine(Path.cwd(), settings)
    work = show_comparison(engine, arguments.paths, sys.stdout, ask_model=arguments.ask, as_json=arguments.json)
    return _asyncio_run(work)


def _stats(arguments: argparse.Namespace) -> int:
    from roo_tui.headless.stats import show_stats

    engine = _engine(Path.cwd(), _settings(arguments, None))
    return _asyncio_run(show_stats(engine, sys.stdout, as_json=arguments.json))


def _doctor(arguments: argparse.Namespace) -> int:
    from roo_tui.headless.doctor import examine, report

    settings = _settings(arguments, Path.cwd(), strict=False)
    probes = _probes(settings, forget_limits=arguments.forget_limits)
    return report(examine(settings, probes, environ=os.environ), sys.stdout)


def _probes(settings: "Settings", *, forget_limits: bool = False) -> "Mapping[str, Probe]":
    """Return the doctor's checks of single packages by name; each imports its package only when it runs."""
    from roo_tui.plain_text import plural

    def key() -> str:
        """Look for the API key of the active profile."""
        from roo_tui.settings import needs_key

        _require_key(settings, demo=False)
        provider = settings.active.provider
        return f"found for {provider}" if needs_key(provider) else f"{provider} needs none"

    def vocabulary() -> str:
        """Count the tokens of a word."""
        from roo_tui.context.window import TokenCounter

        return f"“hello” is {plural(TokenCounter().count_text('hello'), 'token')}"

    def grammars() -> str:
        """Parse a line of Python."""
        from tree_sitter_language_pack import get_parser

        return "python: " + get_parser("python").parse(b"x = 1").root_node.type

    def database() -> str:
        """Open the database, if there is one, and count its tasks."""
        import asyncio

        from roo_tui import paths
        from roo_tui.store import open_store

        async def look() -> str:
            """Return what the database holds."""
            store = open_store(paths.database_file())
            try:
                return f"{paths.database_file()}, {plural(len(await store.tasks()), 'task')}"
            finally:
                await store.close()

        return asyncio.run(look()) if paths.database_file().exists() else f"{paths.database_file()} does not exist yet"

    def limits() -> str:
        """Show, or forget, the limits that providers stated."""
        import asyncio

        from roo_tui import paths
        from roo_tui.engine import learned_limits
        from roo_tui.store import open_store

        async def look() -> list[str]:
            """Return a line for each limit."""
            store = open_store(paths.database_file())
            try:
                return await learned_limits(store, forget=forget_limits)
            finally:
                await store.close()

        lines = asyncio.run(look()) if paths.database_file().exists() else []
        return "; ".join(lines) + " (doctor --forget-limits forgets them)" if lines else "none"

    return {
        "API key": key,
        "vocabulary": vocabulary,
        "grammars": grammars,
        "database": database,
        "learnt limits": limits,
    }


def _workspace(arguments: argparse.Namespace) -> Path:
    from roo_tui.domain.errors import WorkspaceError

    if arguments.workspace is None and arguments.resume:
        return _full_id(arguments.resume)[1]
    if arguments.workspace is None and arguments.demo:
        from roo_tui.engine import sample_workspace

        return sample_workspace()
    folder = Path(arguments.workspace or Path.cwd()).expanduser().resolve()
    if not folder.is_dir():
        raise WorkspaceError(f"{folder} is not a folder. Name another one, or omit it to work in the current folder.")
    return folder


def _settings(arguments: argparse.Namespace, workspace: Path | None, *, strict: bool = True) -> "Settings":
    from roo_tui.domain.errors import SettingsError
    from roo_tui.settings import load

    given = {"profile": arguments.profile, "active.model": arguments.model, "active.base_url": arguments.base_url}
    overrides = {key: value for key, value in given.items() if value is not None}
    settings = load(workspace=workspace, overrides=overrides)
    if strict and arguments.profile is not None and arguments.profile != settings.profile:
        known = ", ".join(sorted(settings.profiles))
        raise SettingsError(f"There is no profile “{arguments.profile}”. Profiles: {known}.")
    return settings


def _require_key(settings: "Settings", *, demo: bool) -> None:
    from roo_tui.settings import find_key, missing_key, needs_key

    provider = settings.active.provider
    if not demo and needs_key(provider) and not find_key(provider):
        raise missing_key(provider)


def _engine(workspace: Path, settings: "Settings", *, demo: bool = False, auto_approve: bool = False) -> "Engine":
    from roo_tui.engine import Engine
    from roo_tui.plain_text import one_line

    for problem in settings.problems:
        print(f"roo-tui: {one_line(problem)}", file=sys.stderr)
    return Engine(workspace, settings, demo=demo, auto_approve=auto_approve, headless=True)


def _engine_of_task(arguments: argparse.Namespace, *, needs_key: bool = False) -> "tuple[Engine, str]":
    """Return an engine in the workspace of the named task, and the full id of the task."""
    task_id, workspace = _full_id(arguments.id)
    settings = _settings(arguments, workspace)
    if needs_key:
        _require_key(settings, demo=False)
    return _engine(workspace, settings), task_id


def _full_id(prefix: str) -> tuple[str, Path]:
    """Return the full id of a task, given a unique beginning of it, and the task's workspace.

    If the workspace no longer exists, the current folder is returned instead.

    Raises:
        TaskNotFound: the id of no task, or of more than one, begins like this.
    """
    import asyncio

    from roo_tui import paths
    from roo_tui.store import open_store

    async def look() -> tuple[str, Path]:
        """Find the task in the store."""
        store = open_store(paths.database_file())
        try:
            task = await store.find_task(prefix)
        finally:
            await store.close()
        workspace = Path(task.workspace)
        return task.id, workspace if workspace.is_dir() else Path.cwd()

    return asyncio.run(look())


def _asyncio_run(work: "Coroutine[object, object, ExitCode]") -> int:
    import asyncio

    return asyncio.run(work)


_HANDLERS: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "tasks": _tasks,
    "import": _import,
    "export": _export,
    "condense": _condense,
    "rewind": _rewind,
    "undo": _undo,
    "context": _context,
    "stats": _stats,
    "bench": _bench,
    "doctor": _doctor,
}
