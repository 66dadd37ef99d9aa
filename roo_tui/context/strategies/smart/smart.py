"""The smart strategy: a lossless prelude, then passes over old content until the target is reached.

    prelude        masks duplicates (see `lossless.py`)
    pass 1 … n     each checks whether it runs, selects messages and reduces them; undone if it frees too little
    early exit     once the context is at the target

The same steps run twice: in `prepare` with assumed answers, for the preview, and in `perform` with the model's answers.
A run without summaries needs only `prepare`.
"""

import asyncio
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace

from roo_tui.context.condense.cut_point import too_few
from roo_tui.context.condense.preview import preview, preview_of_bodies
from roo_tui.context.condense.summary_call import ask
from roo_tui.context.history.effective import effective_history
from roo_tui.context.reduction_input import ReductionInput, ReductionServices, failed
from roo_tui.context.strategies.lossless.lossless import LosslessOperations, lossless_items, worthwhile
from roo_tui.context.strategies.protocol import ProfileModel, StrategyOptions, StrategyPlan
from roo_tui.context.strategies.smart.config import Pass, Progress, SmartConfig, runs
from roo_tui.context.strategies.smart.draft import DraftHistory
from roo_tui.context.strategies.smart.passes import BatchPass, IndividualPass, Job, JobAnswer, counted
from roo_tui.context.strategies.smart.presets import config_of
from roo_tui.context.window.tokens import cost
from roo_tui.domain.entries import Body
from roo_tui.domain.errors import CondenseError, CondenseRefused
from roo_tui.domain.markers import Condense, Mask, PassMetrics
from roo_tui.domain.requests import Request
from roo_tui.domain.usage import Usage, add_costs
from roo_tui.plain_text import plural

_AT_ONCE = 4
_ASSUMED_WORD = "word "

Steps = Generator[list[Job], list[JobAnswer], None]


@dataclass
class SmartStrategy:
    """Runs the passes of a preset or of a custom configuration."""

    id: str = "smart"
    name: str = "Smart"
    description: str = "Reduces old tool results and inputs in passes, from a preset or your own configuration."
    enabled: bool = True
    priority: int = 20

    def validate(self, given: ReductionInput, options: StrategyOptions) -> tuple[str, ...]:
        """Require more than one message."""
        del options
        if len(effective_history(given.path)) <= 1:
            return (too_few(given.path, "There are not enough messages to reduce yet."),)
        return ()

    def prepare(self, given: ReductionInput, options: StrategyOptions) -> StrategyPlan:
        """Return the plan of all passes, with assumed answers for their summaries.

        Raises:
            CondenseRefused: no pass found anything to reduce.
            SettingsError: the configuration is not valid.
        """
        run = _Run(given, options, self.id)
        steps, expected = run.steps(), _Expected(given, options)
        try:
            jobs = next(steps)
            while True:
                expected.add(jobs)
                jobs = steps.send([JobAnswer(_ASSUMED_WORD * job.assumed_tokens) for job in jobs])
        except StopIteration:
            pass
        bodies = run.bodies()
        if not expected.calls:
            if run.draft.tokens >= given.context_tokens:
                raise CondenseRefused("Smart: no pass found anything to reduce.")
            passes, remarks = run.passes, run.remarks
            shown = preview_of_bodies(given, self.id, bodies, options.counter, passes=passes, remarks=remarks)
            return StrategyPlan(shown, bodies)
        shown = preview(
            given,
            self.id,
            run.draft.tokens,
            expected.usage,
            cost_usd=expected.cost_usd,
            model_calls=expected.calls,
            hidden=sum(body.hidden_count for body in bodies if isinstance(body, Condense | Mask)),
            passes=run.passes,
            remarks=run.remarks,
        )
        return StrategyPlan(shown)

    async def perform(
        self, plan: StrategyPlan, given: ReductionInput, services: ReductionServices, options: StrategyOptions
    ) -> tuple[Body, ...]:
        """Return the markers of all passes, with the model's summaries.

        Raises:
            CondenseError: no pass freed anything.
        """
        if not plan.preview.model_calls:
            return plan.bodies
        run = await asyncio.to_thread(_Run, given, options, self.id)
        steps = run.steps()
        jobs = await asyncio.to_thread(_advance, steps, None)
        while jobs is not None:
            answers = await _answers(jobs, given, services, options, run)
            jobs = await asyncio.to_thread(_advance, steps, answers)
        bodies = await asyncio.to_thread(run.bodies)
        if not bodies or run.draft.tokens >= given.context_tokens:
            reason = next((metrics.error for metrics in run.passes if metrics.error), "No pass freed anything.")
            message = f"Smart: {reason} Nothing was changed."
            raise CondenseError(failed(given, services, message, tokens_after=run.draft.tokens))
        last = bodies[-1]
        if isinstance(last, Condense | Mask):
            figures = replace(
                last.figures,
                usage=services.usage,
                cost_usd=services.cost_usd,
                model=given.writer.model.id,
            )
            bodies = (*bodies[:-1], replace(last, figures=figures))
        return bodies


class _Expected:
    """The expected usage and cost of a run's calls."""

    def __init__(self, given: ReductionInput, options: StrategyOptions) -> None:
        self._given = given
        self._options = options
        self.calls = 0
        self.usage = Usage()
        self.cost_usd: float | None = None

    def add(self, jobs: Sequence[Job]) -> None:
        """Add what the jobs will send, and an answer of the assumed length for each."""
        for job in jobs:
            other = self._options.profiles(job.profile) if job.profile else None
            writer = self._given.writer if other is None else other.summariser
            request = job.build(writer.model)
            raw = self._options.counter.count_request(request.system, (), request.messages)
            usage = Usage(input_tokens=round(writer.ratio * raw), output_tokens=job.assumed_tokens)
            self.calls += 1
            self.usage += usage
            self.cost_usd = add_costs(self.cost_usd, cost(writer.model, usage))


def _advance(steps: Steps, answers: list[JobAnswer] | None) -> list[Job] | None:
    """Return the next jobs, None at the end."""
    try:
        return next(steps) if answers is None else steps.send(answers)
    except StopIteration:
        return None


@dataclass
class _Run:
    """One run through the passes."""

    given: ReductionInput
    options: StrategyOptions
    strategy: str
    remarks: tuple[str, ...] = ()
    passes: tuple[PassMetrics, ...] = ()
    started: float = field(default_factory=time.monotonic)
    config: SmartConfig = field(init=False)
    draft: DraftHistory = field(init=False)

    def __post_init__(self) -> None:
        self.config = config_of(self.options.preset, self.options.custom)
        self.draft = DraftHistory(self.given, self.options)

    def steps(self) -> Steps:
        """Yield the jobs of one pass after another and receive their answers."""
        target = self.options.target(self.given, self.strategy)
        self._prelude()
        for step in self.config.passes:
            if target is not None and self.draft.tokens <= target:
                return
            if runs(step, self._progress()):
                yield from self._pass(step)

    def bodies(self) -> tuple[Body, ...]:
        """Return the markers. The last one has the metrics of every pass."""
        bodies = self.draft.bodies(self.strategy)
        if bodies and isinstance(bodies[-1], Condense | Mask):
            last = bodies[-1]
            duration = time.monotonic() - self.started
            figures = replace(last.figures, passes=self.passes, remarks=self.remarks, duration_s=duration)
            bodies = (*bodies[:-1], replace(last, figures=figures))
        return bodies

    def _progress(self) -> Progress:
        thresholds = self.options.thresholds_of(self.strategy)
        trigger = thresholds.trigger_tokens or self.given.limits.trigger_tokens
        return Progress(self.given.context_tokens, self.draft.tokens, trigger)

    def _prelude(self) -> None:
        prelude = self.config.lossless_prelude
        if not prelude.enabled:
            return
        started, before = time.monotonic(), self.draft.tokens
        wanted = LosslessOperations(
            same_content=prelude.operations.deduplicate_file_reads,
            asked_again=prelude.operations.consolidate_tool_results,
            out_of_date=prelude.operations.remove_obsolete_state,
        )
        path = self.given.path
        items = lossless_items(path, operations=wanted, in_turn=self.options.in_turn)
        items = worthwhile(path, items, self.draft.counter)
        self.draft.mask(items)
        if self.draft.tokens >= before:
            self.draft.restore(((), ()))
            items = ()
        operations = (f"mask {len(items)}",) if items else ()
        self._note("lossless_prelude", started, before, operations)

    def _pass(self, step: Pass) -> Steps:
        started, before, state = time.monotonic(), self.draft.tokens, self.draft.state()
        current: IndividualPass | BatchPass
        if step.thresholds.stop_tokens and before <= step.thresholds.stop_tokens:
            return
        if step.individual_config is not None and step.mode == "individual":
            current = IndividualPass(step, step.individual_config, self.draft)
        elif step.batch_config is not None and step.batch_config.operation == "summarize":
            current = BatchPass(step, step.batch_config.summarization_config, self.draft)
        else:
            self._note(step.id, started, before, ("batch:keep",))
            return
        jobs = current.jobs()
        answers = (yield jobs) if jobs else []
        error = current.finish(answers)
        least = max(1, step.thresholds.min_gain_tokens)
        if before - self.draft.tokens < least and self.draft.state() != state:
            self.draft.restore(state)
            error = error or f"It would have freed fewer than {plural(least, 'token')}, so it was undone."
        costs = None
        for answer in answers:
            costs = add_costs(costs, answer.cost_usd)
        self._note(step.id, started, before, counted(current.operations), len(jobs), costs, error)

    def _note(
        self,
        name: str,
        started: float,
        before: int,
        operations: tuple[str, ...],
        calls: int = 0,
        costs: float | None = None,
        error: str = "",
    ) -> None:
        duration = time.monotonic() - started
        metrics = PassMetrics(name, before, self.draft.tokens, duration, calls, costs, operations, error)
        self.passes = (*self.passes, metrics)


async def _answers(
    jobs: Sequence[Job], given: ReductionInput, services: ReductionServices, options: StrategyOptions, run: _Run
) -> list[JobAnswer]:
    """Return the answers to the jobs, in their order. Asks for a few at the same time."""
    others = {job.profile: options.profiles(job.profile) for job in jobs if job.profile}
    unknown = tuple(name for name, other in others.items() if other is None)
    run.remarks += tuple(f"There is no profile “{name}”, so the usual model was asked." for name in unknown)

    def build() -> list[Request]:
        """Return the request of each job, for the model of its profile."""
        found = [others.get(job.profile) for job in jobs]
        writers = [given.writer if other is None else other.summariser for other in found]
        return [job.build(writer.model) for job, writer in zip(jobs, writers, strict=True)]

    turn = asyncio.Semaphore(_AT_ONCE)

    async def one(job: Job, request: Request) -> JobAnswer:
        """Return the answer to one job once it is its turn."""
        async with turn:
            return await _answer(request, given, services, others.get(job.profile))

    requests = await asyncio.to_thread(build)
    return list(await asyncio.gather(*(one(job, request) for job, request in zip(jobs, requests, strict=True))))


async def _answer(
    request: Request, given: ReductionInput, services: ReductionServices, other: ProfileModel | None
) -> JobAnswer:
    own = replace(services, usage=Usage(), cost_usd=None)
    if other is not None:
        own.ask = other.ask
        given = replace(given, summariser=other.summariser)
    try:
        answer = await ask(request, given, own)
    except CondenseError as error:
        return JobAnswer("", str(error), own.cost_usd)
    finally:
        services.usage += own.usage
        services.cost_usd = add_costs(services.cost_usd, own.cost_usd)
    return JobAnswer(answer.text, "", own.cost_usd)
