"""What a question is about: its language, its content words, the names in it, its query key.

Pure rules on text, for English and Chinese; other languages are treated like English. They never
judge meaning: a topic is looked up by its words, and its names must occur (DESIGN, "Models").
"""

import re
import unicodedata
from typing import Final

from workflows.logic.stop_words import ENGLISH, without_chinese, word_list
from workflows.logic.tokens import is_cjk

QUERY_CHARACTERS: Final = 80
_SAMPLE = 20_000
_LONGEST_QUOTED = 60
_HEADLINE_WORDS = 4

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
_KANA = re.compile(r"[\u3041-\u30ff\u31f0-\u31ff]+")
_HANGUL = re.compile(r"[\uac00-\ud7a3]+")
_LATIN_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_CHINESE_FUNCTION = re.compile(r"[的了是吗呢]|如何|什么|怎[么样]|哪[些个]|为何|以及|请")
_ENDS = " \t\r\n.,;:!?\"'()[]{}<>…。，；：！？、“”‘’（）【】《》「」『』`*"


def language_of(text: str) -> str:
    """`zh`, `ja`, `ko` or `en`: the script that dominates; function words weigh most."""
    sample = text[:_SAMPLE]
    if sample.isascii() or not is_cjk(sample):  # as most documents are
        return "en"
    han, kana, hangul = (sum(map(len, p.findall(sample))) for p in (_HAN, _KANA, _HANGUL))
    if not han + kana + hangul:
        return "en"
    words = [w for w in _LATIN_WORD.findall(sample) if w.isascii() or not is_cjk(w)]
    latin = 1.5 * len(words) + 1.5 * sum(w.casefold() in ENGLISH for w in words)
    if hangul > han + kana:
        return "ko" if hangul > latin else "en"
    if kana and kana * 10 >= han:
        return "ja" if han + kana > latin else "en"
    return "zh" if han and han + 3 * len(_CHINESE_FUNCTION.findall(sample)) >= latin else "en"


def query_key(text: str) -> str:
    """Key under which two queries are the same (REQUIREMENTS 56): NFKC, case, blanks folded."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def content_query(text: str, limit: int = QUERY_CHARACTERS) -> str:
    """The text without stop and question words, at most `limit` characters, never blank.

    Where it is too long, names stay first and the rest in its order; a text of stop words alone
    is given back, cut.
    """
    cleaned = without_chinese(text) if is_cjk(text) else text
    words = [w for w in (word.strip(_ENDS) for word in cleaned.split()) if w]
    words = [w for w in words if _bare(w) not in ENGLISH] or text.split()
    if len(" ".join(words)) <= limit:
        return " ".join(words) or text
    named = {name.casefold() for name in names_of(text)}
    order = sorted(range(len(words)), key=lambda i: (words[i].casefold() not in named, i))
    kept: list[int] = []
    room = limit
    for i in order:
        if len(words[i]) <= room:
            kept.append(i)
            room -= len(words[i]) + 1
    return " ".join(words[i] for i in sorted(kept)) or words[0][:limit]


def _bare(word: str) -> str:
    return re.sub(r"['\u2019]s$", "", word.casefold().replace("\u2019", "'"))


_QUOTED = re.compile(
    r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|「([^」\n]+)」|『([^』\n]+)』|《([^》\n]+)》"
    r"|(?<![\w'])'([^'\n]+)'(?!\w)"
)
_TERM = re.compile(r"(?:~?/)?_*\w+(?:(?:[.\-/]{1,2}|::)\w+)*(?:\+\+|#(?!\w))?")
_MEASURE = re.compile(
    r"\d+(?:st|nd|rd|th|s|ms|us|ns|min|h|d|k|m|g|kb|mb|gb|tb|kib|mib|gib|x|px|hz|khz|mhz|ghz|bit)?",
    re.IGNORECASE,
)
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_BEFORE_VERSION = re.compile(r"(?:\b[A-Z]\w*|[vV]ersion|[rR]elease|\bv|版本?)\s*$")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n。！？：；•]|^\s*[-*#>\d.)]+)\s*[\"'“‘(（\[`*_]*$")
_ABBREVIATIONS = frozenset({"e.g", "i.e", "a.m", "p.m", "etc", "vs", "no"})
_CALENDAR = frozenset(
    word_list("""
    january february march april june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday
    """)
)
# Halves of compounds that make an ordinary word, not a name: `read-only`, `well-known`.
_COMPOUND_WORDS = frozenset(
    word_list("""
    anti auto aware based built co command cross defined driven end ended error fine first free
    friendly full general grained half high key known left level like line long low made mid mini
    multi native new non old only open order oriented party plain post pre purpose random read real
    related right run safe second self semi short side single size specific step style sub super
    term third three time top tree two type ultra un user wide word world write zero
    """)
)


def names_of(text: str) -> list[str]:
    """Names and identifiers of a text, in order, each once (case folded); not ordinary words.

    Quoted and backticked terms; words with `_ . - /` or digits inside, camelCase, acronyms;
    capitalised words inside a sentence; Latin words inside Chinese, Japanese or Korean text.
    """
    chinese = language_of(text) in {"zh", "ja", "ko"}
    shouting = sum(c.isupper() for c in text) > sum(c.islower() for c in text) + 12
    capitals = _capitals_are_names(text)
    found: dict[str, str] = {}
    for match in _QUOTED.finditer(text):
        term = next(g for g in match.groups() if g is not None).strip()
        if len(term) <= _LONGEST_QUOTED and re.search(r"\w", term):
            found.setdefault(term.casefold(), term)
    for word, start in _words(text):
        is_name = (
            _is_identifier(word, text[:start])
            or (not shouting and _is_acronym(word))
            or (chinese and _is_latin_word(word))
            or (capitals and not shouting and _is_capitalised(word, text, start))
        )
        if is_name and not any(word.casefold() in quoted for quoted in found):
            found[word.casefold()] = word
    return list(found.values())


def _words(text: str) -> list[tuple[str, int]]:
    """Words with their places; runs of CJK characters are cut away from Latin ones."""
    out: list[tuple[str, int]] = []
    for match in _TERM.finditer(text):
        word, start = match.group(), match.start()
        if not is_cjk(word):
            out.append((word, start))
            continue
        latin = re.compile(r"[^\W\u2e80-\U0003ffff]+(?:[_.\-/]+[^\W\u2e80-\U0003ffff]+)*")
        out += [(m.group(), start + m.start()) for m in latin.finditer(word)]
    return out


def _is_identifier(word: str, before: str) -> bool:
    if _VERSION.fullmatch(word):
        return _BEFORE_VERSION.search(before) is not None
    if _MEASURE.fullmatch(word) or word.casefold() in _ABBREVIATIONS:
        return False
    return _has_mark(word) or _is_compound_name(word)


def _has_mark(word: str) -> bool:
    """Whether its characters alone show an identifier, a path, or a name with digits."""
    return bool(
        re.search(r"[^\W_]", word)
        and (
            re.search(r"_|\+\+|#|::|[^\W\d]\.\w|\w\.[^\W\d]", word)
            or word.startswith(("/", "~/"))
            or word.count("/") > 1
            or re.search(r"[a-z][A-Z]|[A-Z]{2,}[a-z]{2,}", word)
            or (re.search(r"\d", word) and re.search(r"[^\W\d_]", word) and "/" not in word)
        )
    )


def _is_compound_name(word: str) -> bool:
    parts = [part.casefold() for part in word.split("-")]
    if "/" in word or len(parts) == 1 or not all(part[1:] for part in parts):
        return False
    return not any(part in _COMPOUND_WORDS or part in ENGLISH for part in parts)


def _is_acronym(word: str) -> bool:
    plain = word[:-1] if word.endswith("s") else word
    return len(plain) > 1 and plain.isalpha() and plain.isupper() and plain != "OK"


def _is_latin_word(word: str) -> bool:
    plain = word.casefold()
    return len(word) > 1 and not _MEASURE.fullmatch(word) and plain not in ENGLISH


def _is_capitalised(word: str, text: str, start: int) -> bool:
    plain = word.casefold()
    if not (word[0].isupper() and len(word) > 1 and word.isalpha()):
        return False
    if plain in ENGLISH or plain in _CALENDAR:
        return False
    if not _SENTENCE_START.search(text[:start]):
        return True
    # The first word of a sentence is a name when the next one is capitalised too.
    following = re.match(r"\s+([A-Z][a-z]+)", text[start + len(word) :])
    return following is not None and following.group(1).casefold() not in ENGLISH


def _capitals_are_names(text: str) -> bool:
    """Not in a headline, where every word is capitalised."""
    words = [w for w in re.findall(r"[^\W\d_]{2,}", text) if w.casefold() not in ENGLISH]
    capitalised = sum(w[0].isupper() for w in words)
    return len(words) < _HEADLINE_WORDS or capitalised * 10 <= len(words) * 6
