"""Fixed words of the report of a plan, English and Chinese, beside those of every report."""

from typing import Final

PLAN_EN: Final[dict[str, str]] = {
    "answered": "covered",
    "partly": "partly covered",
    "no": "not covered",
    "only": "(holds only: {limitation})",
    "computed": "Computed: {method}",
    "as_of": "(as of {date})",
    "undated_as_of": "(undated, retrieved {at})",
    "no_conflicts": "None found among the findings that speak of the same thing.",
    "not_judged": "Not compared: nothing judged whether findings contradict each other.",
    "conflict": "About {about}: these cannot both hold, and neither counts alone.",
    "no_claims": "No statement was found that its sources support, so this report makes no claim.",
    "partials": "Partly covered",
    "absent": "Searched for and not found in {corpora}: {topic} ({count} queries). {looked}",
    "steps": "Steps",
    "steps_columns": "| Step | Goal | Status | Attempts | Score | Why |",
    "blocked": "waits for {causes}",
    "plan_used": "Plan {version}: {rounds} of {max_rounds} rounds, {replans} of {max_replans} new"
    " plans.",
    "claims_removed": "Statements of the model left out, because their sources do not carry them:"
    " {insufficient} insufficient, {contradicted} contradicted, {unverified} without a verdict.",
    "plan_meaning": "Covered means that findings answer the topic, each checked against the text it"
    " cites; it is no guarantee that the sources are right.",
    "extractive_meaning": "Covered means that a verbatim passage holds the topic's words; whether"
    " it answers was not judged.",
    "lowered": "The final check lowered the status: {problems}",
}
PLAN_ZH: Final[dict[str, str]] = {
    "answered": "已覆盖",
    "partly": "部分覆盖",
    "no": "未覆盖",
    "only": "（仅在此限制下成立：{limitation}）",
    "computed": "计算：{method}",
    "as_of": "（截至 {date}）",
    "undated_as_of": "（来源无日期，检索于 {at}）",
    "no_conflicts": "在谈论同一事物的发现之间没有发现矛盾。",
    "not_judged": "未作比较：没有判断各发现是否互相矛盾。",
    "conflict": "关于{about}：以下两者不可能同时成立，任何一方都不能单独作数。",
    "no_claims": "没有找到来源支持的陈述，因此本报告不作任何论断。",
    "partials": "部分覆盖",
    "absent": "在 {corpora} 中检索但未找到：{topic}（{count} 个查询）。{looked}",
    "steps": "步骤",
    "steps_columns": "| 步骤 | 目标 | 状态 | 尝试次数 | 得分 | 原因 |",
    "blocked": "等待 {causes}",
    "plan_used": "计划 {version}：{rounds}/{max_rounds} 轮，{replans}/{max_replans} 次重新计划。",
    "claims_removed": "因来源不支持而略去的模型陈述：依据不足 {insufficient} 条，相互矛盾"
    " {contradicted} 条，没有裁定 {unverified} 条。",
    "plan_meaning": "“已覆盖”指有发现回答该主题，且每条都与所引原文核对过；这并不保证来源正确。",
    "extractive_meaning": "“已覆盖”指有逐字段落包含该主题的用词；是否真正回答了问题未作判断。",
    "lowered": "最终检查降低了状态：{problems}",
}
