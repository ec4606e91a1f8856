"""What the command line says about requests to people, in the language of the run."""

import dataclasses
from typing import Final

from workflows.logic.headings import Words, words_for

_EN: Final[dict[str, str]] = {
    "show_goal": "Goal",
    "show_accept": "criterion",
    "show_expected": "expected",
    "show_risk": "risk",
    "show_depends": "after",
    "show_topics": "topics",
    "show_tool": "tool",
    "show_optional": "optional",
    "show_effect": "effect",
    "show_step": "for step",
    "show_arguments": "arguments",
    "show_bytes": "{bytes} bytes, would end as {status}",
    "show_opening": "Only its beginning is at hand here; the whole lies in the evidence store.",
    "show_cut": "No worker answers, so only the beginning of what is asked is at hand.",
    "ask_decide": "{id}: [a]pprove, [r]eject, [e]dit, [l]ater? ",
    "ask_approve": "Approve {id} as {by}? [y/N] ",
    "ask_approve_edited": "Approve {id} with these changes, as {by}? [y/N] ",
    "ask_reject": "Reject {id} as {by}? [y/N] ",
    "ask_reject_final": "Reject {id} as {by} and end the run? [y/N] ",
    "ask_answer": "Send this answer to {id} as {by}? [y/N] ",
    "ask_comment": "What should change (nothing: it is rejected for good and the run ends)? ",
    "ask_text": "{id}, your answer (nothing: later): ",
    "ask_unread": "Please answer with a, r, e or l.",
    "told_later": "{id} stays open; it can be answered from another terminal.",
    "told_unchanged": "nothing was changed",
    "told_approved": "{id}: approved by {by}",
    "told_edited": "{id}: approved with changes by {by}",
    "told_rejected": "{id}: rejected by {by}",
    "told_answered": "{id}: answered by {by}",
    "told_expired": "{id}: expired, nobody decided",
    "told_withdrawn": "{id}: withdrawn",
    "told_cancelled": "{id}: cancelled",
    "told_refused": "not taken: {reason}",
    "told_sent": "{id}: sent, and not yet taken by a worker; `{command}` tells what became of it",
    "not_sent": "nothing was sent",
}
_ZH: Final[dict[str, str]] = {
    "show_goal": "目标",
    "show_accept": "标准",
    "show_expected": "预期",
    "show_risk": "风险",
    "show_depends": "依赖",
    "show_topics": "主题",
    "show_tool": "工具",
    "show_optional": "可选",
    "show_effect": "影响",
    "show_step": "所属步骤",
    "show_arguments": "参数",
    "show_bytes": "{bytes} 字节，将以 {status} 结束",
    "show_opening": "此处只有报告的开头；全文在证据库中。",
    "show_cut": "没有工作进程应答，因此这里只有所问内容的开头。",
    "ask_decide": "{id}：[a] 批准，[r] 拒绝，[e] 修改，[l] 稍后？",
    "ask_approve": "以 {by} 的名义批准 {id}？[y/N] ",
    "ask_approve_edited": "以 {by} 的名义按上述修改批准 {id}？[y/N] ",
    "ask_reject": "以 {by} 的名义拒绝 {id}？[y/N] ",
    "ask_reject_final": "以 {by} 的名义拒绝 {id} 并结束运行？[y/N] ",
    "ask_answer": "以 {by} 的名义向 {id} 发送此回答？[y/N] ",
    "ask_comment": "需要修改什么（留空：最终拒绝，运行结束）？",
    "ask_text": "{id}，您的回答（留空：稍后）：",
    "ask_unread": "请回答 a、r、e 或 l。",
    "told_later": "{id} 仍待定，可在另一个终端回答。",
    "told_unchanged": "没有修改",
    "told_approved": "{id}：{by} 已批准",
    "told_edited": "{id}：{by} 修改后批准",
    "told_rejected": "{id}：{by} 已拒绝",
    "told_answered": "{id}：{by} 已回答",
    "told_expired": "{id}：已过期，无人决定",
    "told_withdrawn": "{id}：已撤回",
    "told_cancelled": "{id}：已取消",
    "told_refused": "未被接受：{reason}",
    "told_sent": "{id}：已发送，尚无工作进程处理；`{command}` 会说明结果",
    "not_sent": "没有发送任何内容",
}


def words_of(language: str) -> Words:
    """The texts of a language tag: ours here beside those of the run."""
    general = words_for(language)
    own = _ZH if language.split("-", 1)[0].lower() == "zh" else _EN
    return dataclasses.replace(general, texts=general.texts | own)
