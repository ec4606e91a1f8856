"""Chinese legacy encodings by evidence: do these bytes read as Chinese, in which encoding?

Nearly any bytes decode as GB18030, and Korean or Russian bytes even as ordinary characters of it.
So a reading is only believed when its characters are those that Chinese is mostly written with:
every character adds the logarithm of how much likelier it is in Chinese than by chance.
"""

import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

from activities.ingest.charsets import strict

# The most frequent characters of general and of technical prose, about nine of ten in a text.
# Chance meets one of them in seven characters of the tables' first levels.
_COMMON: Final = frozenset(
    "一丁万三上下不与且世业东两个中串为主么义之也书了争事二于五些交产人什今介从他代令以们件任"
    "会传伺但位住体何作你使例供便保信修候值做像儿允元充先光克入全公共关其具内册再写军决况准几"
    "出函分切划列则创删利别到制前力功加务动助包化北匹区十单南印即却历压原去参又及反发取受变口"
    "只叫可号司各合同名后向否含听启告员呼命和品器四回因国图在地场址块型域基境声处备复外多大天"
    "太头套女她好如始子字存学它安完定实家容对导射将小少尔尝就展山工己已市布师带帮常平年并序库"
    "应度建开式引张强当录形径很得德心必志态思性总息您情想意感成我或战户所手才打执扩找把护报拉"
    "拟括持指按换据接控描提援操支改放政效教数整文料断斯新方无日时明易映是显更替最月有服望期未"
    "本术机权束条来构果架某查标树样核格案档检模次止正此步死段每比民气水求没治法注活流测海消清"
    "源点然片版物特状率王环现理生用由电界留略病白的盘目直相省看真眼着知码确示社神种科称移程空"
    "立章端笔符第等算管类系索繁约级线组经结给络统维缓编缩缺网置美翻老考者而联胡能自至致色节获"
    "虚行补表被西要见观规觉解计认让记许论设访证识译试话该语误说请读调象资走起跋路身转载输边达"
    "过运近返还这进连述退送选透通道那邮部都配释里重量金针锁错键长门问间阅队际限院除难需非面页"
    "项须预领题马驱高默"
    # Traditional forms.
    "並併來係個們備傳價儲兒內兩冊別刪則創劃動務區參員問啟單嗎嘗國圍圖團執報場塊壓學實審寫將專"
    "對導師帶幫幾庫張強後徑從復愛態應戰戲戶換擇據數於時書會東條業構樂標樣樹機檔檢欄權歲歷歸氣"
    "決沒況測準灣為無營爭爾狀獲現環產當療發確碼種稱穩筆節築簡紀約級細終組結絡給統經維網線編縣"
    "縮總繫繼續義習聯聲聽與興舉華萊萬蘭處號術補裝裡製複見規視覺觀計訊記訪設許詞詢試話該誌認語"
    "誤說誰課調談請論講證識譯議護讀變讓財買資賣車軍較載輕輸轉這連進遊運過達遠適選還邊郵醫釋銀"
    "錄錢錯鍵長門開間閱關陰陽隊際雖雜離難電頁項須預領頭頻題願類顧顯風飯養館馬驅驗體鬆魚鳥麼點"
    "齊龍"
)
_PUNCTUATION: Final = frozenset("，。、：；？！“”‘’（）《》〈〉【】「」『』…—·～\u3000")

_COMMON_WEIGHT = 1.5
_PUNCTUATION_WEIGHT = 0.7
_FIRST_LEVEL_WEIGHT = -1.5
_SYMBOL_WEIGHT = -0.3
_LOST_WEIGHT = -1.5
# What a conversion leaves of characters that its target has not.
_LOST = re.compile(r"(?<=[\u4e00-\u9fff])\?+(?=[\u4e00-\u9fff])")
_RANGES: Final = (
    ("\u3400", "\u9fff", -3.0),  # rare characters
    ("\uf900", "\ufaff", -3.0),
    ("\u3040", "\u30ff", -2.0),  # EUC-JP has its kana where GB2312 has them
    ("\ue000", "\uf8ff", -6.0),  # private use
    ("\x80", "\x9f", -6.0),
)

_ENOUGH = 6.0  # a sentence; chance needs some 200 texts of four common characters each
_LEAST_COMMON = 4
_MEAN = 0.25
_MARGIN = 3.0
_JAPANESE = 0.3
_MISFITS = 0.05
_SAMPLE = 1 << 16


class Evidence(NamedTuple):
    """How Chinese a text is: the sum over its characters beyond ASCII, and how many.

    `common` is the number of different common characters: "ów" of Polish, read as one of them,
    is no more evidence the tenth time.
    """

    total: float
    chars: int
    common: int

    @property
    def plausible(self) -> bool:
        """True for what can be read as Chinese without another hint."""
        if self.common < _LEAST_COMMON:
            return False
        return self.total >= _ENOUGH and self.total >= _MEAN * self.chars

    @property
    def mean(self) -> float:
        """Evidence per character, 0 for none."""
        return self.total / self.chars if self.chars else 0.0


class Guess(NamedTuple):
    """Text in the likeliest Chinese encoding."""

    encoding: str
    text: str
    evidence: Evidence


@cache
def _first_level(encoding: str) -> frozenset[str]:
    if encoding == "gb18030":
        pairs = bytes(b for lead in range(0xB0, 0xD8) for t in range(0xA1, 0xFF) for b in (lead, t))
        return frozenset(pairs.decode("gb2312", "ignore"))
    if encoding == "big5":
        trails = (*range(0x40, 0x7F), *range(0xA1, 0xFF))
        pairs = bytes(b for lead in range(0xA4, 0xC6) for t in trails for b in (lead, t))
        return frozenset(pairs.decode("cp950", "ignore"))
    return _first_level("gb18030") | _first_level("big5")


def _weight(char: str, first_level: frozenset[str]) -> float:
    if char in _COMMON:
        return _COMMON_WEIGHT
    if char in _PUNCTUATION:
        return _PUNCTUATION_WEIGHT
    if char in first_level:
        return _FIRST_LEVEL_WEIGHT
    return next((w for first, last, w in _RANGES if first <= char <= last), _SYMBOL_WEIGHT)


def evidence(text: str, encoding: str = "") -> Evidence:
    """Weigh a text, or samples of a long one.

    Args:
        text: characters as decoded.
        encoding: "gb18030" or "big5", whose first level counts as ordinary; "" for both.
    """
    sample = _sample(text)
    chars = Counter(sample)
    for code in range(0x80):
        chars.pop(chr(code), None)
    level = _first_level(encoding)
    total = sum(_weight(char, level) * n for char, n in chars.items())
    total += _LOST_WEIGHT * sum(map(len, _LOST.findall(sample)))
    return Evidence(total, chars.total(), len(_COMMON & chars.keys()))


def _sample(text: str) -> str:
    if len(text) <= 4 * _SAMPLE:
        return text
    # Of what is beyond ASCII: the Chinese of a log may begin late.
    text = text.encode("utf-8", "ignore").translate(None, bytes(range(0x80))).decode()
    middle = len(text) // 2
    return text[:_SAMPLE] + text[max(_SAMPLE, middle) :][:_SAMPLE]


def read_big5(data: bytes, cut: bool = False) -> str | None:
    """Big5 as browsers read it, with the Hong Kong characters; None where it is not Big5."""
    text = strict(data, "big5hkscs", cut)
    if text is None:
        return strict(data, "cp950", cut)
    for python, windows in _AS_WINDOWS:
        text = text.replace(python, windows)
    return text


# Where Python's table and the one of Windows and browsers differ (Encoding Standard, index Big5).
_AS_WINDOWS: Final = tuple(zip("•､‾∼♁☉¥¢£", "‧﹑¯～⊕⊙￥￠￡", strict=True))


def read_gb18030(data: bytes, cut: bool = False) -> str | None:
    """GB18030, of which GBK and GB2312 are parts; None where it is not."""
    return strict(data, "gb18030", cut)


READERS: Final[dict[str, Callable[[bytes, bool], str | None]]] = {
    "gb18030": read_gb18030,
    "big5": read_big5,
}


def guess_chinese(data: bytes, cut: bool = False) -> Guess | None:
    """The Chinese encoding that all of `data` is in, if one is clearly plausible."""
    found: list[Guess] = []
    for encoding, read in READERS.items():
        text = read(data, cut)
        if text is not None:
            found.append(Guess(encoding, text, evidence(text, encoding)))
    return clear_winner(found, data)


def clear_winner(found: list[Guess], data: bytes) -> Guess | None:
    """The best of plausible guesses about `data`, None where there is none or two are alike."""
    found = sorted((g for g in found if g.evidence.plausible), key=lambda g: -g.evidence.total)
    if len(found) > 1 and found[0].evidence.total - found[1].evidence.total < _MARGIN:
        return None
    if not found or (found[0].encoding == "big5" and _is_japanese(data)):
        return None
    return found[0]


def _is_japanese(data: bytes) -> bool:
    """True for kana in EUC-JP, whose bytes are the simplest characters in Big5.

    A third of the bytes of Big5 does not fit EUC-JP.
    """
    text = _sample(data.decode("euc_jp", "replace"))
    beyond = sum(char > "\x7f" for char in text)
    kana = sum("\u3040" <= char <= "\u30ff" for char in text)
    return kana > _JAPANESE * beyond and text.count("\ufffd") < _MISFITS * beyond
