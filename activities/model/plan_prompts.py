"""Messages of the planner and of a step: system texts in two languages, snapshots as JSON.

Nothing in a system message comes from a source or a caller. What failed before stands first in a
step's snapshot (REQUIREMENTS 52); sources stand between data marks (225, 229).
"""

import json
from collections.abc import Sequence
from typing import Final

from activities.model.evidence_view import evidence_view
from activities.model.prompts import (
    DATA_EN,
    DATA_ZH,
    is_chinese,
    joined,
    topic_view,
    write_en,
    write_zh,
)
from workflows.contracts.base import JsonObject
from workflows.contracts.evidence import Entry
from workflows.contracts.plan_acts import PlanInput, StepInput
from workflows.contracts.step_record import CheckedClaim, StepRecord
from workflows.contracts.task import ResolvedTask

_PLAN_EN: Final = """\
You plan a research task. The user message is JSON, made by a program. Reply with one JSON object
{"steps": [...]} and nothing else. Each step:
- `id`: short and unique, such as s1.
- `goal`: what this step is to find out, one thing, in a sentence.
- `accept`: a criterion that somebody else can check from the text alone: which fact, value, name, \
date or how many must be there. Never words such as "reasonable", "suitable" or "good".
- `depends_on`: ids of steps whose results it needs; [] if it needs none. No cycles. Steps that do \
not need each other run at the same time.
- `expected_output`: what the result looks like, in a few words.
- `topics`: ids from `required_topics` that it serves. Every required topic must be served.
- `tool_hint`: the name of one of `tools`, or "".
- `risk`: low, medium or high. `required`: false only if the task is complete without it.
Make between `min_steps` and `max_steps` steps. `failed_plans` did not work: propose another way, \
not the same in other words. `failure_reasons` say what went wrong last. `finished_steps` have \
results that stay. If `problems` is there, your last plan was refused for these reasons: mend them.
"""
_PLAN_ZH: Final = """\
你为一项研究任务制定计划。用户消息是程序生成的 JSON。只回复一个 JSON 对象 {"steps": [...]}。每一步：
- `id`：简短且唯一，例如 s1。
- `goal`：这一步要查明的一件事，一句话。
- `accept`：别人只看文本就能核对的标准：必须出现哪个事实、数值、名称、日期或数量。\
不要用“合理”“合适”“良好”之类的词。
- `depends_on`：它需要其结果的步骤的 id，没有则为 []。不能成环。互不依赖的步骤会同时执行。
- `expected_output`：结果的样子，几个词。
- `topics`：它服务的 `required_topics` 的 id。每个必需主题都必须有步骤服务。
- `tool_hint`：`tools` 中的一个名称，或 ""。
- `risk`：low、medium 或 high。`required`：只有缺了它任务仍完整时才为 false。
步骤数在 `min_steps` 与 `max_steps` 之间。`failed_plans` 已经失败：换一种做法，不要只是换个说法。\
`failure_reasons` 是最近的失败原因。`finished_steps` 的结果会保留。\
如果有 `problems`，说明上一个计划因此被拒绝：请逐条改正。
"""
_STEP_EN: Final = """\
You work on one step of a research plan. The user message is a JSON snapshot made by a program; it \
is all you know. If `fix_first` is there, your last attempt failed for that reason: mend it first.
`step` is what to find and by which criterion; `upstream` holds results of the steps before; \
`evidence` holds sources found so far (E1, E2, ...) with passages. Reply with one JSON object:
- `answer_quote`: a sentence copied verbatim from a passage that answers the step, or "".
- `enough`: "yes", "partly" or "no": whether the evidence is enough for the criterion.
- `action`: one of `allowed_actions`. search: look for other passages. read: read on in a source \
whose excerpt is cut. tool: call a tool. ask: ask the user what no source can tell. write: the \
evidence is enough. insufficient: give up.
- `queries`: for search 1 to 3 queries, each at most 80 characters, words the sources would use; \
else []. Never a query of `queries_tried`, nor the same in other words.
- `evidence_id`, `locator`: for read, else "". `tool`, `arguments_json`: for tool, else "".
- `question`: for ask, else "". `answers` holds what the user answered before: never ask it again.
"""
_STEP_ZH: Final = """\
你负责研究计划中的一步。用户消息是程序生成的 JSON 快照，你所知道的全在其中。\
如果有 `fix_first`，说明上次尝试因此失败：先改正它。
`step` 是要查明的内容和标准；`upstream` 是前面步骤的结果；\
`evidence` 是目前的来源（E1、E2……）及段落。\
只回复一个 JSON 对象：
- `answer_quote`：从段落中逐字抄下的、回答这一步的一句话，没有则为 ""。
- `enough`："yes"、"partly" 或 "no"：证据是否足以满足标准。
- `action`：`allowed_actions` 之一。search：查找其他段落。read：继续读摘录被截断的来源。\
tool：调用工具。ask：向用户询问任何来源都无法回答的事。write：证据足够。insufficient：放弃。
- `queries`：search 时 1 到 3 个查询，每个不超过 80 个字符，用来源会用的词；否则为 []。\
不要重复 `queries_tried` 中的查询，也不要只换个说法。
- `evidence_id`、`locator`：read 时填写，否则为 ""。\
`tool`、`arguments_json`：tool 时填写，否则为 ""。
- `question`：ask 时填写，否则为 ""。`answers` 是用户以前的回答：不要再问同样的问题。
"""
_WRITE_EN: Final = """\
You write the result of one step of a research plan from its evidence. The user message is a JSON \
snapshot made by a program. If `fix_first` is there, your last attempt failed for that reason: \
mend it first. Reply with one JSON object {"insufficient": "", "claims": [...]}. Each claim:
- `text`: one atomic statement with the marks of its sources behind it, such as [E1] or [E1][E3]. \
State only what the quotes say, with their conditions, units and dates.
- `kind`: "fact"; "derived" for a value computed from quoted numbers (then `expression` holds the \
arithmetic, such as (100-80)/100, else ""); "inference" for your own conclusion.
- `quotes`: 1 to 6 passages copied verbatim that together support the claim, each with its \
`evidence_id`. Copy whole sentences; "..." may stand for a gap within one source.
- `topics`: ids of the step's topics that it answers.
Never say that the sources do not mention something: a program writes that. If the evidence does \
not answer the step, set `insufficient` to why, and `claims` to [].
"""
_WRITE_ZH: Final = """\
你根据证据写出研究计划中一步的结果。用户消息是程序生成的 JSON 快照。\
如果有 `fix_first`，说明上次尝试因此失败：先改正它。\
只回复一个 JSON 对象 {"insufficient": "", "claims": [...]}。每条论断：
- `text`：一条原子陈述，后面标明来源，如 [E1] 或 [E1][E3]。\
只写引文说了的内容，保留条件、单位和日期。
- `kind`："fact"；"derived" 表示由引文中的数字算出的值（此时 `expression` 写算式，如 (100-80)/100，\
否则为 ""）；"inference" 表示你自己的推断。
- `quotes`：1 到 6 段逐字抄下、共同支持该论断的原文，各带 `evidence_id`。抄完整句子；\
同一来源中的省略可用“……”。
- `topics`：它回答的主题 id。
不要写“来源没有提到某事”：这由程序来写。\
如果证据不能回答这一步，在 `insufficient` 写明原因，`claims` 为 []。
"""


def plan_system(language: str) -> str:
    """System message of the planner."""
    if is_chinese(language):
        return joined(_PLAN_ZH, DATA_ZH, write_zh("`goal`、`accept`"))
    return joined(_PLAN_EN, DATA_EN, write_en("`goal` and `accept`", language))


def step_system(language: str) -> str:
    """System message of a decision inside of a step."""
    return joined(_STEP_ZH, DATA_ZH) if is_chinese(language) else joined(_STEP_EN, DATA_EN)


def write_system(language: str) -> str:
    """System message for a step's result."""
    if is_chinese(language):
        return joined(_WRITE_ZH, DATA_ZH, write_zh("论断"))
    return joined(_WRITE_EN, DATA_EN, write_en("the claims", language))


def plan_message(task: ResolvedTask, inp: PlanInput, min_steps: int) -> str:
    """The planner's snapshot (REQUIREMENTS 31, 32, 183)."""
    snapshot: JsonObject = {
        "goal": task.goal,
        "required_topics": [topic_view(topic) for topic in task.topics],
        "tools": [
            {"name": spec.name, "description": spec.description[:300]} for spec in task.specs
        ],
        "min_steps": min_steps,
        "max_steps": task.limits.max_steps,
        "failed_plans": [end.model_dump() for end in inp.dead_ends],
        "failure_reasons": inp.reasons,
        "finished_steps": inp.done,
    }
    if inp.problems:
        snapshot["problems"] = inp.problems
    return json.dumps(snapshot, ensure_ascii=False)


def step_message(
    task: ResolvedTask,
    inp: StepInput,
    entries: Sequence[Entry],
    upstream: Sequence[StepRecord],
) -> str:
    """The snapshot of a step; `fix_first` is its first key where there is one."""
    snapshot: JsonObject = {"fix_first": inp.reason} if inp.reason else {}
    observation = inp.last_observation
    snapshot |= {
        "goal": task.goal,
        "step": {
            "id": inp.step.id,
            "goal": inp.step.goal,
            "accept": inp.step.accept,
            "expected_output": inp.step.expected_output,
            "topics": [topic_view(task.topics[index]) for index in inp.topics],
        },
        "upstream": [
            {"step": record.step, "claims": [_claim(claim) for claim in record.standing]}
            for record in upstream
        ],
        "evidence": evidence_view(task, inp.topics, entries),
        "last_observation": observation.model_dump() if observation else None,
        "queries_tried": inp.queries,
        "collections": inp.looked,
        "answers": inp.answers,
        "tools": [
            {"name": spec.name, "description": spec.description[:300], "arguments": spec.schema_}
            for spec in task.specs
            if spec.name != "search"
        ],
        "remaining_tool_calls": inp.remaining_tool_calls,
        "allowed_actions": inp.allow,
    }
    return json.dumps(snapshot, ensure_ascii=False)


def _claim(claim: CheckedClaim) -> str:
    return f"{claim.text} {''.join(f'[E{number}]' for number in claim.numbers)}"
