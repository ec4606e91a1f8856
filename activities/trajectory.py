"""`spill`: the older part of a trajectory goes to the store, linked, so that state stays small."""

from temporalio import activity

from activities.store.guard import check_store
from activities.store.records import Records
from workflows.contracts import names
from workflows.contracts.plan_acts import SpilledEvents, SpillInput, SpillResult


class TrajectoryActivities:
    """Keeps trajectories."""

    def __init__(self, records: Records) -> None:
        self._records = records

    @activity.defn(name=names.SPILL)
    async def spill(self, inp: SpillInput) -> SpillResult:
        """Keep records; the same ones give the same ref.

        Raises:
            ApplicationError: `WrongStore`, retryable.
            OSError: the disk failed.
        """
        check_store(self._records, inp.store_id)
        kept = SpilledEvents(records=inp.records, previous=inp.previous)
        return SpillResult(ref=await self._records.put(inp.run_id, kept))
