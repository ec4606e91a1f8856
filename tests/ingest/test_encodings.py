"""Encodings of text files: what is read, as what, and what is refused.

How it can go wrong: wrong characters taken for text; Chinese text refused; a binary read as
UTF-16; a declaration believed against the bytes; a character cut at the end called damage.
"""

import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.ingest.document import UnreadableFileError
from activities.ingest.encodings import decode_text

SENTENCE = "生产数据库在法兰克福"
TRADITIONAL = "生產資料庫在法蘭克福"
PROSE = (
    "昨天晚上下了一场大雨，今天早上街道还是湿的。我和同事一起走路去公司，路上谈到新系统的上线计划。\n"
    "他认为数据库的迁移应该放在周末进行，因为那时候用户最少。我同意，但是提醒他先做好备份：\n"
    "“没有经过验证的备份不是备份。”会议决定由三个人轮流值班，每两个小时检查一次服务状态。\n"
)
PROSE_TW = (
    "昨天晚上下了一場大雨，今天早上街道還是濕的。我和同事一起走路去公司，路上談到新系統的上線計畫。\n"
    "他認為資料庫的遷移應該放在週末進行，因為那時候使用者最少。我同意，但是提醒他先做好備份：\n"
    "「沒有經過驗證的備份不是備份。」會議決定由三個人輪流值班，每兩個小時檢查一次服務狀態。\n"
)
JAPANESE = (
    "データベースはフランクフルトにあります。設定を変更した後、必ず再起動してください。\n" * 3
)
KOREAN = (
    "운영 데이터베이스는 프랑크푸르트에 있습니다. 설정을 변경한 뒤에는 다시 시작하십시오.\n" * 3
)
RUSSIAN = "Рабочая база данных находится во Франкфурте. После изменения перезапустите службу.\n" * 3
FRENCH = "La base de données de production est à Francfort ; l’accès « privé » a été vérifié.\n" * 3
GERMAN = "Die größte Datenbank läuft in Köln. Änderungen müssen geprüft werden, für später.\n" * 3
POLISH = "Użytkowników i plików: ówczesny stół, któryś wpis usunięto, źródłowych zmian brak.\n" * 3


def refused(data: bytes, declared: str = "", *, cut: bool = False) -> tuple[str, str]:
    with pytest.raises(UnreadableFileError) as caught:
        decode_text(data, declared, cut=cut)
    return caught.value.status, caught.value.reason


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (SENTENCE.encode(), "utf-8"),
        (SENTENCE.encode("utf-8-sig"), "utf-8"),
        (SENTENCE.encode("gbk"), "gb18030"),
        (SENTENCE.encode("gb18030"), "gb18030"),
        (b"\xff\xfe" + SENTENCE.encode("utf-16-le"), "utf-16-le"),
        (b"\xfe\xff" + SENTENCE.encode("utf-16-be"), "utf-16-be"),
        (SENTENCE.encode("utf-16-le"), "utf-16-le"),
    ],
)
def test_the_sentence_of_case_e08(data: bytes, encoding: str) -> None:
    found = decode_text(data)
    assert (found.text, found.encoding, found.problem) == (SENTENCE, encoding, "")


def test_the_sentence_in_big5() -> None:
    assert decode_text(TRADITIONAL.encode("big5")).text == TRADITIONAL
    assert refused(SENTENCE.encode("big5", "replace"))[0] == "unsupported"


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize(
    "text", [PROSE, PROSE_TW, JAPANESE, KOREAN, RUSSIAN, FRENCH, "Plain text.\r\nTwo lines.\r\n"]
)
def test_utf_16_and_utf_32(text: str, codec: str, mark: str) -> None:
    found = decode_text((mark + text).encode(codec))
    assert (found.text, found.encoding) == (text.replace("\r\n", "\n"), codec)


@pytest.mark.parametrize(
    ("text", "codec", "encoding"),
    [
        (PROSE, "gbk", "gb18030"),
        (PROSE, "gb2312", "gb18030"),
        (PROSE + "生僻字：𠮷、㐂、㛃；表情：😀。\n", "gb18030", "gb18030"),
        (PROSE_TW, "gbk", "gb18030"),
        (PROSE_TW, "big5", "big5"),
        (PROSE_TW + "香港嘅嘢～\n", "big5hkscs", "big5"),
        (PROSE.replace("\n", "\r\n"), "gbk", "gb18030"),
    ],
)
def test_chinese_encodings(text: str, codec: str, encoding: str) -> None:
    if codec == "big5hkscs":
        text = text.replace("～", "")
    found = decode_text(text.encode(codec))
    assert (found.text, found.encoding, found.problem) == (
        text.replace("\r\n", "\n"),
        encoding,
        "",
    )


LEGACY = [
    (JAPANESE, "euc_jp", "euc-jp"),
    (JAPANESE, "shift_jis", "shift_jis"),
    ("でのみ使います。\n", "euc_jp", "euc-jp"),
    (KOREAN, "euc_kr", "ks_c_5601-1987"),
    (RUSSIAN, "koi8-r", "KOI8-R"),
    (RUSSIAN, "cp1251", "windows-1251"),
    (RUSSIAN, "iso8859-5", "iso-8859-5"),
    (FRENCH, "cp1252", "iso-8859-1"),
    (GERMAN, "latin-1", "latin1"),
    (GERMAN, "iso8859-15", "iso-8859-15"),
    (POLISH, "iso8859-2", "iso-8859-2"),
    (POLISH, "cp1250", "windows-1250"),
]


@pytest.mark.parametrize(("text", "codec", "label"), LEGACY)
def test_other_legacy_encodings_only_by_declaration(text: str, codec: str, label: str) -> None:
    data = text.encode(codec)
    status, reason = refused(data)
    assert status == "unsupported"
    place = next(n for n, byte in enumerate(data) if byte > 0x7F)
    assert f"byte 0x{data[place]:02x} at offset {place}" in reason
    assert decode_text(data, label).text == text


@pytest.mark.parametrize(
    ("data", "declared", "text", "encoding"),
    [
        (PROSE.encode(), "gbk", PROSE, "utf-8"),
        (PROSE.encode("gbk"), "utf-8", PROSE, "gb18030"),
        (PROSE.encode("gbk"), "iso-8859-1", PROSE, "gb18030"),
        (PROSE.encode("gbk"), "big5", PROSE, "gb18030"),
        (PROSE.encode("gbk"), "euc-kr", PROSE, "gb18030"),
        (PROSE_TW.encode("big5"), "gb2312", PROSE_TW, "big5"),
        (FRENCH.encode("cp1252"), "ISO-8859-1", FRENCH, "windows-1252"),
        (FRENCH.encode(), "iso-8859-1", FRENCH, "utf-8"),
        ("鑫淼".encode("gbk"), " GB2312 ", "鑫淼", "gb18030"),
        (b"plain", "utf-16", "plain", "utf-8"),
        (b"plain", "no-such-encoding", "plain", "utf-8"),
        (SENTENCE.encode("hz"), "hz-gb-2312", SENTENCE, "hz-gb-2312"),
        (JAPANESE.encode("iso2022_jp"), "iso-2022-jp", JAPANESE, "iso-2022-jp"),
        (b"plain ~ text", "hz-gb-2312", "plain ~ text", "utf-8"),
        (b"plain text", "utf-7", "plain text", "utf-8"),
    ],
)
def test_declared(data: bytes, declared: str, text: str, encoding: str) -> None:
    found = decode_text(data, declared)
    assert (found.text, found.encoding, found.problem) == (text, encoding, "")


@pytest.mark.parametrize(
    ("data", "declared"),
    [
        (SENTENCE.encode("utf-7"), "utf-7"),
        (b"\x80\x81 text", "x-user-defined"),
        (b"\x1b$)A\x0eVPND\x0f", "iso-2022-cn"),
        (b"~{V!~", "hz-gb-2312"),
        ("café".encode("latin-1"), "base64"),
        ("café".encode("latin-1"), "utf-8"),
        ("café".encode("latin-1"), "gbk\x00\n" + "x" * 999),
        ("文件".encode("gbk"), "iso-8859-1"),
        (b"a\x81\x8d\x9db", "iso-8859-1"),
    ],
)
def test_declared_and_refused(data: bytes, declared: str) -> None:
    status, reason = refused(data, declared)
    assert status == "unsupported"
    assert len(reason) < 200


def test_bytes_that_are_utf_8_by_chance() -> None:
    assert refused("see 同 there".encode("gbk"))[0] == "unsupported"
    assert decode_text("naïve café · 10 µm".encode()).text == "naïve café · 10 µm"


@pytest.mark.parametrize(
    ("data", "status", "words"),
    [
        (b"", "empty", "no text"),
        (b" \r\n\t", "empty", "no text"),
        (b"\xef\xbb\xbf \n", "empty", "no text"),
        (b"\xff\xfe", "empty", "no text"),
        (b"text with one \0 NUL", "binary", "offset 14"),
        (b"text with a \0 NULL", "binary", "offset 12"),
        (b"\xef\xbb\xbfa\0b", "binary", "offset 4"),
        (b"\x01\x02\x03text", "binary", "control"),
        ("\ufffd\ufffd lost".encode(), "corrupt", "U+FFFD"),
        (b"\xff\xfe" + b"\x00\xd8" * 40, "corrupt", "no characters"),
        ("naïve café".encode("latin-1"), "unsupported", "0xef at offset 2"),
        (b"\xef\xbb\xbf" + "naïve café".encode("latin-1"), "unsupported", "0xef at offset 5"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\x08\6\0\0\0", "binary", "NUL"),
        (b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0\x01\0\0\0", "binary", "NUL"),
    ],
)
def test_refused(data: bytes, status: str, words: str) -> None:
    found, reason = refused(data)
    assert (found, words in reason) == (status, True), reason


def test_damage_after_a_byte_order_mark_is_left_out_and_named() -> None:
    data = b"\xff\xfe" + PROSE.encode("utf-16-le") + b"\x3d\xd8" + b"a"
    found = decode_text(data)
    assert found.text == PROSE
    assert "2 units" in found.problem
    wide = decode_text(b"\xff\xfe\0\0" + PROSE.encode("utf-32-le") + b"\xff\xff\xff\xff")
    assert (wide.text, "1 unit" in wide.problem) == (PROSE, True)


def lines_of(count: int, odd: dict[int, bytes]) -> bytes:
    lines = [f"2026-01-02 第 {n} 行：服务已经启动".encode() for n in range(1, count + 1)]
    for number, line in odd.items():
        lines[number - 1] = line
    return b"\n".join(lines)


def test_a_log_of_two_encodings() -> None:
    odd = {n: "数据库连接失败，请检查网络".encode("gbk") for n in range(40, 481, 40)}
    found = decode_text(lines_of(480, odd))
    assert found.encoding == "mixed"
    assert found.problem == "12 of 480 lines are GB18030 among UTF-8"
    assert found.text.count("数据库连接失败，请检查网络") == 12
    assert found.text.count("\n") == 479


def test_utf_8_lines_among_gb18030_are_not_read_as_gb18030() -> None:
    lines = ["数据库连接失败，请检查网络".encode("gbk")] * 60
    lines[7] = "服务已经启动".encode()
    assert lines[7].decode("gb18030") != "服务已经启动"
    found = decode_text(b"\n".join(lines))
    assert (found.encoding, found.text.split("\n")[7]) == ("mixed", "服务已经启动")


def test_lines_in_no_known_encoding_are_left_out() -> None:
    odd = dict.fromkeys((3, 7, 8, 9), b"caf\xe9 d\xe9j\xe0 vu") | {
        20: "数据库连接失败，请检查网络".encode("gbk")
    }
    found = decode_text(lines_of(200, odd))
    assert "lines left out, their encoding is unknown: 3, 7-9" in found.problem
    assert "1 of 200 lines are GB18030" in found.problem
    assert "caf" not in found.text
    assert refused(lines_of(50, odd | {30: odd[3]}))[0] == "unsupported"


def test_a_damaged_line_of_gb18030_is_left_out() -> None:
    lines = ["数据库连接失败，请检查网络".encode("gbk")] * 60
    lines[4] = lines[4][:-1] + b"\xff"
    found = decode_text(b"\r\n".join(lines))
    assert (found.encoding, found.text.count("\n")) == ("gb18030", 58)
    assert found.problem.endswith("unknown: 5")


def test_of_a_very_long_line_only_the_bytes_are_left_out() -> None:
    data = (PROSE.replace("\n", "") * 20).encode()
    found = decode_text(data[:300] + b"\xff" + data[300:])
    assert found.text.encode() == data
    assert found.problem == "1 bytes that are not UTF-8 left out, the first in line 1 at byte 300"
    assert refused((FRENCH.replace("\n", "") * 40).encode("cp1252"))[0] == "unsupported"


@pytest.mark.parametrize(
    "data",
    [
        ("正文 abc 的𠮷" * 30).encode(),
        b"\xff\xfe" + (PROSE + "😀").encode("utf-16-le"),
        b"\xfe\xff" + (PROSE + "😀").encode("utf-16-be"),
        b"\xff\xfe\0\0" + PROSE.encode("utf-32-le"),
        (PROSE + "𠮷").encode("gb18030"),
        PROSE_TW.encode("big5"),
        PROSE.encode("utf-16-le"),
    ],
)
def test_a_cut_file(data: bytes) -> None:
    whole = decode_text(data)
    for end in range(len(data) - 9, len(data)):
        found = decode_text(data[:end], cut=True)
        assert (found.encoding, found.problem) == (whole.encoding, "")
        assert whole.text.startswith(found.text)
        assert len(found.text) >= len(whole.text) - 9


def test_a_cut_file_of_two_encodings() -> None:
    data = lines_of(100, {30: PROSE.split("\n", maxsplit=1)[0].encode("gbk")})
    for end in range(len(data) - 4, len(data)):
        assert decode_text(data[:end], cut=True).problem.startswith("1 of 100 lines")


def test_random_bytes_are_refused() -> None:
    source = random.Random(7)
    for size in (40, 1000, 10_000):
        for _ in range(60):
            refused(source.randbytes(size))
            refused(bytes(source.randrange(0x80, 0x100) for _ in range(size)))


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(
    lambda t: bool(t.strip().replace("\ufeff", "").strip()) and "\ufffd" not in t
)
MARKED = {
    "utf-8-sig": b"",
    "utf-16-le": b"\xff\xfe",
    "utf-16-be": b"\xfe\xff",
    "utf-32-le": b"\xff\xfe\0\0",
    "utf-32-be": b"\0\0\xfe\xff",
}


@given(TEXTS, st.sampled_from(sorted(MARKED)))
def test_any_text_survives_with_a_byte_order_mark(text: str, codec: str) -> None:
    try:
        found = decode_text(MARKED[codec] + text.encode(codec))
    except UnreadableFileError as error:
        # So few and so rare characters that their bytes are as well Chinese ones.
        assert "too few characters" in error.reason  # noqa: PT017 - only in rare examples
    else:
        assert (found.text, found.problem) == (text.replace("\ufeff", ""), "")


@given(
    st.one_of(
        st.binary(max_size=300),
        st.builds(lambda a, b: a + b, st.sampled_from([b"\xff\xfe", b"\xef\xbb\xbf"]), st.binary()),
        st.builds(lambda a, b: a.encode("gb18030") + b, st.text(max_size=40), st.binary()),
    ),
    st.sampled_from(["", "gbk", "latin1", "shift_jis", "utf-7", "iso-2022-jp", "rot13", "\0"]),
    st.booleans(),
)
def test_any_bytes_give_text_or_a_reason(data: bytes, declared: str, cut: bool) -> None:
    try:
        text = decode_text(data, declared, cut=cut).text
    except UnreadableFileError:
        return
    assert text.strip()
    assert not re.search("[\0\r\ufeff\ud800-\udfff]", text)


def test_large_files_take_seconds_at_most() -> None:
    started = time.perf_counter()
    decode_text((PROSE * 15_000).encode())
    assert time.perf_counter() - started < 2
    refused(b"\n\xe9" * 1_000_000)
    refused(bytes(range(0x80, 0x100)) * 20_000)
    assert time.perf_counter() - started < 30
