"""`prepare`, the first activity of a run: everything a run needs to know, resolved once."""

from collections.abc import Awaitable, Callable, Sequence

from temporalio import activity

from activities.model.profiles import Profile, Profiles
from activities.search.backend import SearchBackend
from activities.store.guard import check_store, evidence_lost
from activities.store.records import Records
from activities.tools.registry import SEARCH
from workflows.contracts.acts import PrepareInput, RetaskInput
from workflows.contracts.names import PREPARE, RETASK
from workflows.contracts.price import RolePrices
from workflows.contracts.task import Prepared, ResolvedTask, Settings, Task, ToolSpec
from workflows.logic.cost import price_of, roles_used
from workflows.logic.edits import plan_bounds
from workflows.logic.plan_rules import plan_problems
from workflows.logic.resolve import resolve, with_goal

EXTRACTIVE_MIN_COVER = 0.35  # DESIGN, "Models": measured on 144 topics
MODEL_MIN_COVER = 0.1  # a language model judges itself what is off the mark


class PrepareActivities:
    """Resolves a task against what this worker offers.

    Args:
        records: the evidence store.
        backend: knows which collections exist.
        profiles: the worker's model profiles.
        settings: the worker's settings, copied into each run.
        registered: which of our search attributes the server knows.
        tools: what the worker offers besides the search.
    """

    def __init__(
        self,
        records: Records,
        backend: SearchBackend,
        profiles: Profiles,
        settings: Settings,
        registered: Callable[[], Awaitable[list[str]]],
        tools: Sequence[ToolSpec] = (),
    ) -> None:
        self._specs = [SEARCH, *tools]
        self._records = records
        self._backend = backend
        self._profiles = profiles
        self._settings = settings
        self._registered = registered

    @activity.defn(name=PREPARE)
    async def prepare(self, inp: PrepareInput) -> Prepared:
        """Resolve the task and keep it in the store; unknown names come back as `problems`."""
        task = inp.task
        problems = self._unknown_models(task)
        planner = self._profiles.for_role("planner", None if problems else task.models.planner)
        extractive = planner.kind == "extractive"
        floor = EXTRACTIVE_MIN_COVER if extractive else MODEL_MIN_COVER
        settings = self._settings.model_copy(
            update={"search_attributes": await self._registered(), "min_cover": floor}
        )
        resolved = resolve(task, planner.name, planner.display, settings, extractive=extractive)
        resolved = self._with_roles(resolved, task, planner, known=not problems)
        problems += self._unknown_prices(resolved)
        problems += self._unknown_tools(resolved, task)
        problems += await self._backend.unknown_names(resolved)
        if extractive and not problems:
            resolved = await self._with_order(resolved)
        return Prepared(
            task=resolved,
            task_ref=await self._records.put(inp.run_id, resolved),
            store_id=self._records.store.store_id,
            problems=problems,
            plan_problems=_plan_problems(resolved),
            prepared_at=activity.info().scheduled_time.isoformat(timespec="seconds"),
        )

    @activity.defn(name=RETASK)
    async def retask(self, inp: RetaskInput) -> Prepared:
        """The task with a goal that a person changed; everything else stays as it was resolved.

        A run that requires no topics of its own has the goal as its topic, so that changes too.

        Raises:
            ApplicationError: `WrongStore`, `EvidenceLost`.
        """
        check_store(self._records, inp.store_id)
        with evidence_lost():
            task = await self._records.task(inp.run_id, inp.task_ref)
        resolved = with_goal(task, inp.goal)
        if resolved.extractive:
            resolved = await self._with_order(resolved)
        return Prepared(
            task=resolved,
            task_ref=await self._records.put(inp.run_id, resolved),
            store_id=self._records.store.store_id,
            prepared_at=activity.info().scheduled_time.isoformat(timespec="seconds"),
        )

    def _with_roles(
        self, resolved: ResolvedTask, task: Task, planner: Profile, *, known: bool
    ) -> ResolvedTask:
        """Profiles of executor and judge, and the tools of this run with their specifications."""
        executor = self._profiles.for_role("executor", task.models.executor if known else None)
        judge = self._profiles.for_role("judge", task.models.judge if known else None)
        tools = resolved.tools
        if task.tools is None and resolved.strategy == "plan":
            tools = [spec.name for spec in self._specs if spec.effect == "read"]
        return resolved.model_copy(
            update={
                "executor": executor.name,
                "judge": judge.name,
                "judge_extractive": judge.kind == "extractive",
                "prices": RolePrices(
                    planner=planner.price, executor=executor.price, judge=judge.price
                ),
                "tools": tools,
                "specs": [spec for spec in self._specs if spec.name in tools],
            }
        )

    async def _with_order(self, resolved: ResolvedTask) -> ResolvedTask:
        """Topics that have a chance first, each group in the caller's order."""
        try:
            chances = await self._backend.answerable(resolved)
        except OSError as error:  # the search itself will say what is wrong, as an observation
            activity.logger.warning("no look at the collections: %s", error)
            return resolved
        order = sorted(range(len(chances)), key=lambda index: not chances[index])
        return resolved.model_copy(update={"search_order": order})

    def _unknown_models(self, task: Task) -> list[str]:
        known = self._profiles.names()
        chosen = {
            "planner": task.models.planner,
            "executor": task.models.executor,
            "judge": task.models.judge,
        }
        return [
            f"models.{role}: no profile {name!r} on this worker; there are {', '.join(known)}"
            for role, name in chosen.items()
            if name is not None and name not in known
        ]

    def _unknown_prices(self, resolved: ResolvedTask) -> list[str]:
        """Without prices a limit of money could not be kept."""
        if resolved.limits.max_cost is None:
            return []
        names = {
            "planner": resolved.planner,
            "executor": resolved.executor,
            "judge": resolved.judge,
        }
        unknown = {
            role: names[role] for role in roles_used(resolved) if not price_of(resolved, role)
        }
        models = list(dict.fromkeys(self._profiles.get(name).model for name in unknown.values()))
        if not models:
            return []
        wanted = ",".join(f"{model}=PROMPT/COMPLETION" for model in models)
        return [
            f"limits.max_cost: this worker knows no price of {', '.join(models)} "
            f"({', '.join(unknown)}); set SUREFOOT_PRICES={wanted} on the worker, in US dollars "
            "for a million tokens, or leave max_cost out"
        ]

    def _unknown_tools(self, resolved: ResolvedTask, task: Task) -> list[str]:
        known = {spec.name: spec for spec in self._specs}
        problems = [
            f"tools: no tool {name!r} on this worker; there are {', '.join(known)}"
            for name in resolved.tools
            if name not in known
        ]
        if resolved.strategy != "plan":
            problems += [
                f"tools: {name!r} belongs to strategy plan, found {resolved.strategy}"
                for name in resolved.tools
                if name in known and name != SEARCH.name
            ]
        problems += [
            f"datasets: no dataset {name!r} on this worker; none is registered"
            for name in task.datasets or []
        ]
        return problems


def _plan_problems(task: ResolvedTask) -> list[str]:
    """What is wrong with the caller's own plan, as sentences."""
    if task.plan is None:
        return []
    return [problem.text for problem in plan_problems(task.plan, plan_bounds(task))]
