"""Words that carry no topic: function words, question words, and the verbs of asking.

Chinese is not segmented, so its entries are matched as phrases, longest first; a single character
is only taken out where it is not part of one of the words that `_ZH_KEPT` lists.
"""

import re
from typing import Final


def word_list(text: str) -> list[str]:
    """A list of words written as text: two hundred quoted strings would be harder to read."""
    return text.split()


ENGLISH: Final = frozenset(
    word_list("""
    a about above after again against all also although always among an and another any anyone
    anything are around as at away be became because been before being below between both but by
    can cannot could did do does doing done don down during each either else etc even ever every
    few for from further get gets give given gives go goes got had has have having he her here
    hers him his how however i if in instead into is it its itself just kind kinds least less let
    like likely made mainly make makes many may me might mine more most much must my myself need
    needed needs neither never no nor not now of off often on once one only onto or other others
    otherwise our ours out over own per possible quite rather really same say see shall she should
    since so some someone something sort still such than that the their theirs them themselves
    then there these they thing things this those through thus to together too toward under until
    up upon us use used uses using usually various very via was way ways we well were what whatever
    when whenever where whereas whether which while who whom whose why will with within without
    work working works would yes yet you your yours
    ask briefly compare compared describe described detail details discuss exactly explain
    explained find following give help information know learn list main mean means meant outline
    overview please question questions show shows summarise summarize summary tell topic
    understand want
    don't doesn't isn't aren't can't won't what's how's it's e.g i.e vs
    """)
)

_ZH_PHRASES = word_list("""
    请问 请介绍 请说明 请解释 请描述 请列出 请总结 请给出 请比较 请简述 介绍一下 解释一下
    说明一下 简要介绍 简要说明 简述 概述 什么是 是什么 有什么 为什么 什么样 什么时候 什么 怎么样
    怎么办 怎么 怎样 如何 为何 哪些 哪个 哪里 哪种 哪一 哪儿 多少 几个 几种 是否 能否 可否
    有没有 没有 某个 某些 另一个 如何用 怎么用 怎样用 中的 里的 上的 下的 是不是 能不能 可不可以
    可以 能够 应该 应当 必须 需要 想要 我想 知道 了解一下 以及 并且 而且 或者 还是 但是 因为
    所以 如果 关于 对于 有关 相关 根据 按照 通过 用于 用来 用作 进行 这些 那些 这个 那个 这种
    那种 它们 他们 我们 你们 自己 一个 一种 一些 有哪些 都有 分别 主要 具体 各自 之间 方面 吗 呢
    吧 呀 的 了 是 和 与 及 或 在 被 把 哪 让 给
""")
_ZH_KEPT = word_list("""
    供给 给予 标的 的士 了解 为了 总和 和谐 饱和 参与 与否 给与 涉及 普及 及时 及格 存在
    在线 现在 正在 潜在 内在 在内 被动 把握 所在 在于 未及 波及 顾及 以及时 的确 有的 缓和 温和
    和平 共和 是非 实是 或许
""")

_ANY_ZH = "|".join(sorted(map(re.escape, _ZH_PHRASES), key=len, reverse=True))
# 目的 is a word, but not in 项目的, 条目的 and the like.
_KEPT_ANY = "|".join(["(?<![项题数条栏节账])目的", *map(re.escape, _ZH_KEPT)])
CHINESE: Final = re.compile(f"(?P<kept>{_KEPT_ANY})|(?:{_ANY_ZH})")


def without_chinese(text: str) -> str:
    """Put a blank where a Chinese stop phrase stood."""
    return CHINESE.sub(lambda match: match.group("kept") or " ", text)
