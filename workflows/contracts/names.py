"""Names that people and programs outside the code rely on (INTERFACE, "Names")."""

from typing import Final

AGENT_RUN: Final = "AgentRun"
INDEX_CORPUS: Final = "IndexCorpus"

QUEUE: Final = "surefoot"
MODEL_QUEUE: Final = "surefoot-model"
TOOLS_QUEUE: Final = "surefoot-tools"

# Activities.
PREPARE: Final = "prepare"
DECIDE: Final = "decide"
ANSWER: Final = "answer"
SEARCH: Final = "search"
CLOSE: Final = "close"
INDEX: Final = "index"
PLAN: Final = "plan"
STEP_ACTION: Final = "step_action"
WRITE: Final = "write"
SUPPORT: Final = "support"
GOAL: Final = "goal"
LOOK: Final = "look"
TOOL: Final = "tool"
GATHER: Final = "gather"
TOPIC: Final = "topic"
CONFLICT: Final = "conflict"
READ: Final = "read"
SPILL: Final = "spill"
RETASK: Final = "retask"
CHECK_CALL: Final = "check_call"
DRAFT: Final = "draft"

# Messages.
SIGNALS: Final = ("approve", "reject", "answer", "stop")
UPDATE_DECIDE: Final = "decide"
QUERIES: Final = ("status", "plan", "evidence", "requests", "trajectory", "report", "state")
MEMO: Final = "surefoot"

SEARCH_ATTRIBUTES: Final = {
    "AgentPhase": "Keyword",
    "AgentStatus": "Keyword",
    "AgentStopReason": "Keyword",
    "AgentTenant": "Keyword",
    "AgentAwaiting": "KeywordList",
    "AgentDegraded": "Bool",
}

# Types of ApplicationError.
INVALID_TASK: Final = "InvalidTask"
MODEL_ERROR: Final = "ModelError"
PROTOCOL_ERROR: Final = "ProtocolError"
TOOL_ERROR: Final = "ToolError"
WRONG_STORE: Final = "WrongStore"
EVIDENCE_LOST: Final = "EvidenceLost"
PAYLOADS_TOO_LARGE: Final = "PayloadsTooLarge"  # raised by the SDK, never worth a retry
