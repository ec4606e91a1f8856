"""IndexCorpus: build or refresh a collection (INTERFACE, "IndexCorpus")."""

from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

with workflow.unsafe.imports_passed_through():
    from workflows import ports
    from workflows.contracts.corpus import IndexResult, IndexTask
    from workflows.contracts.names import INDEX_CORPUS, INVALID_TASK
    from workflows.logic.parse import InvalidTaskError, parse_object


@workflow.defn(name=INDEX_CORPUS)
class IndexCorpus:
    """One activity does the work; bad input fails the execution as `InvalidTask`."""

    @workflow.run
    async def run(self, *args: Any) -> IndexResult:
        """Take `{"name", "path"}`; the path is one on the worker, under an allowed root."""
        try:
            task = parse_object(args, IndexTask, INDEX_CORPUS, '{"name": "...", "path": "..."}')
        except InvalidTaskError as error:
            raise ApplicationError(str(error), type=INVALID_TASK, non_retryable=True) from None
        workflow.set_current_details(f"Indexing collection **{task.name}**")
        try:
            result: IndexResult = await ports.index().start(task, f"Index {task.name}")
        except ActivityError as error:
            cause = error.cause
            if isinstance(cause, ApplicationError) and cause.type == INVALID_TASK:
                raise ApplicationError(
                    cause.message, type=INVALID_TASK, non_retryable=True
                ) from None
            raise
        workflow.set_current_details(
            f"Collection **{result.name}**, version {result.version}: {result.chunks} chunks"
        )
        return result
