"""The sandbox of workflows: our pure modules pass through, nothing else does (DESIGN).

For each payload of an activation the SDK asks the sandbox three times in which context it is to be
decoded; each question enters the sandbox anew, a tenth of the processor time of a run with many
steps (measured). Our converters know no contexts, so the answer is always none.
"""

from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.converter import SerializationContext, StorageDriverStoreContext
from temporalio.worker import WorkflowInstance, WorkflowInstanceDetails
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner
from temporalio.workflow import Info


class ContextFreeRunner(SandboxedWorkflowRunner):
    """The SDK's sandbox, whose instances answer for contexts without being entered."""

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        """A sandboxed instance."""
        return _ContextFree(super().create_instance(det))


class _ContextFree(WorkflowInstance):
    """An instance for which no payload has a context."""

    def __init__(self, inner: WorkflowInstance) -> None:
        self._inner = inner

    def activate(self, act: WorkflowActivation) -> WorkflowActivationCompletion:
        """Handle an activation."""
        return self._inner.activate(act)

    def get_serialization_context(
        self,
        command_info: object | None,  # noqa: ARG002 - the SDK's signature
    ) -> SerializationContext | None:
        """None: our converters and codec take no context."""
        return None

    def get_external_store_context(
        self,
        command_info: object | None,  # noqa: ARG002 - the SDK's signature
    ) -> StorageDriverStoreContext:
        """None: there is no external storage."""
        return StorageDriverStoreContext(target=None)

    def get_info(self) -> Info:
        """Info of the workflow."""
        return self._inner.get_info()

    def get_thread_id(self) -> int | None:
        """The thread that it runs on, for the report of a deadlock."""
        return self._inner.get_thread_id()
