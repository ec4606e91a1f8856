"""Messages of the judge: support, goal, topic and conflict, in two languages.

The judge never sees how a text came about; it sees the text and what it rests on (REQUIREMENTS 88;
C8, C55). Sources stand between data marks and have no say in its verdict.
"""

from typing import Final

from activities.model.prompts import DATA_EN, DATA_ZH, is_chinese, joined

_SUPPORT_EN: Final = """\
You check one claim against the passages it cites. The user message is JSON made by a program. \
Judge only by the passages, never by what you know. Reply with one JSON object:
- `verdict`: "supported" if the passages state the claim with its numbers, units, dates, names, \
conditions and negations; "qualified" if it holds only with a limitation; "contradicted" if a \
passage states the opposite; "insufficient" otherwise.
- `limitation`: for qualified, the limitation in a sentence; else "".
- `counter_evidence_id`, `counter_quote`: for contradicted, the passage copied verbatim; else "".
- `problem`: the one thing that is wrong, in a sentence; "" if nothing is.
Not support: a number off by one, another unit, a dropped "not" or "only if", another subject, a \
true passage about something else. Differences of style are no problem.
`quantities_not_in_passages` lists what a program did not find: look closely at these.
`other_passages` were not cited: they count only if they contradict the claim.
"""
_SUPPORT_ZH: Final = """\
你核对一条论断与它引用的段落。用户消息是程序生成的 JSON。只依据段落判断，不依据你已有的知识。\
只回复一个 JSON 对象：
- `verdict`：段落连同数字、单位、日期、名称、条件和否定都说明了该论断，则为 "supported"；\
只有加上限制才成立为 "qualified"；有段落说的相反为 "contradicted"；其余为 "insufficient"。
- `limitation`：qualified 时用一句话写出限制，否则为 ""。
- `counter_evidence_id`、`counter_quote`：contradicted 时逐字抄下该段落，否则为 ""。
- `problem`：用一句话写出唯一的问题，没有则为 ""。
不算支持：数字差一、单位不同、漏掉“不”或“仅当”、主语不同、内容真实但说的是别的事。文风差异不是问题。
`quantities_not_in_passages` 是程序没有找到的数量：请仔细核对。\
`other_passages` 没有被引用：只有与论断矛盾时才有意义。
"""
_GOAL_EN: Final = """\
You score one result of a research step. The user message is JSON with `task`, `goal`, `accept` \
and `output`. Every statement of `output` has been checked against its sources already; you judge \
only whether it meets `accept`. Reply with one JSON object: `score` from 0 to 1 (0.8 and more: it \
meets the criterion; 0.5 to 0.8: partly; below: not), `passed` true or false, `reason`: the \
concrete problem, or that there is none. Style is no reason. Do not rewrite the output.
"""
_GOAL_ZH: Final = """\
你给研究步骤的一个结果打分。用户消息是 JSON：`task`、`goal`、`accept`、`output`。\
`output` 中的每句陈述都已与来源核对过；你只判断它是否满足 `accept`。只回复一个 JSON 对象：\
`score` 为 0 到 1（0.8 及以上：满足标准；0.5 到 0.8：部分满足；更低：不满足），\
`passed` 为 true 或 false，\
`reason`：具体问题，或说明没有问题。文风不是理由。不要改写 output。
"""
_TOPIC_EN: Final = """\
You decide whether findings answer a question. The user message is JSON with `question` and \
`findings`, each with a number. Reply with one JSON object: `answer`: "answered" if the findings \
together answer the whole question; "partly" if they answer some of it; "no" if they are about \
something else. `claims`: numbers of the findings that answer it; [] for no.
"""
_TOPIC_ZH: Final = """\
你判断若干发现是否回答了一个问题。用户消息是 JSON：`question` 和带编号的 `findings`。\
只回复一个 JSON 对象：`answer`：合起来回答了整个问题为 "answered"，只回答一部分为 "partly"，\
说的是别的事为 "no"。`claims`：回答它的发现编号；no 时为 []。
"""
_CONFLICT_EN: Final = """\
You compare findings about one thing. The user message is JSON with `findings`, each with a number,
its quotes and the dates of their sources. Reply with one JSON object {"conflicts": [...]}: a \
conflict is a pair that cannot both hold, with `one`, `other` (numbers) and `about` (what they \
differ in). Different times, versions, places or conditions are no conflict. [] if there is none.
"""
_CONFLICT_ZH: Final = """\
你比较关于同一事物的发现。用户消息是 JSON：`findings` 各带编号、引文和来源日期。\
只回复一个 JSON 对象 {"conflicts": [...]}：冲突是不可能同时成立的一对，写出 `one`、`other`（编号）\
和 `about`（差别所在）。时间、版本、地点或条件不同不算冲突。没有则为 []。
"""
_TEXTS: Final = {
    "support": (_SUPPORT_EN, _SUPPORT_ZH),
    "goal": (_GOAL_EN, _GOAL_ZH),
    "topic": (_TOPIC_EN, _TOPIC_ZH),
    "conflicts": (_CONFLICT_EN, _CONFLICT_ZH),
}


def judge_system(schema_name: str, language: str) -> str:
    """System message of a judge's call."""
    english, chinese = _TEXTS[schema_name]
    return joined(chinese, DATA_ZH) if is_chinese(language) else joined(english, DATA_EN)
