"""`prepare`, the first activity of a run: everything a run needs to know, resolved once."""

from collections.abc import Awaitable, Callable

from temporalio import activity

from activities.model.profiles import Profiles
from activities.search.backend import SearchBackend
from activities.store.records import Records
from workflows.contracts.acts import PrepareInput
from workflows.contracts.names import PREPARE
from workflows.contracts.task import Prepared, ResolvedTask, Settings, Task
from workflows.logic.resolve import resolve

TOOLS = ("search",)
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
    """

    def __init__(
        self,
        records: Records,
        backend: SearchBackend,
        profiles: Profiles,
        settings: Settings,
        registered: Callable[[], Awaitable[list[str]]],
    ) -> None:
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
        problems += self._unknown_tools(resolved, task)
        problems += await self._backend.unknown_names(resolved)
        if extractive and not problems:
            resolved = await self._with_order(resolved)
        return Prepared(
            task=resolved,
            task_ref=await self._records.put(inp.run_id, resolved),
            store_id=self._records.store.store_id,
            problems=problems,
            prepared_at=activity.info().scheduled_time.isoformat(timespec="seconds"),
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

    def _unknown_tools(self, resolved: ResolvedTask, task: Task) -> list[str]:
        problems = [
            f"tools: no tool {name!r} on this worker; there are {', '.join(TOOLS)}"
            for name in resolved.tools
            if name not in TOOLS
        ]
        problems += [
            f"datasets: no dataset {name!r} on this worker; none is registered"
            for name in task.datasets or []
        ]
        return problems
