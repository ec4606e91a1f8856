"""Documents that were made to deceive or to stall: what is read is what a reader of the page sees.

How it can go wrong: 10⁶ becomes 106, a deleted or hidden sentence becomes a claim, one long line
holds the whole worker.
"""

import pytest

from activities.ingest.html import read_html
from activities.ingest.markdown import read_markdown, read_text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>about 10<sup>6</sup> requests</p>", "about 10⁶ requests"),
        ("<p>H<sub>2</sub>O and 1<sup>st</sup></p>", "H₂O and 1st"),
        ("<p>see there<sup>[3]</sup></p>", "see there[3]"),
        ("<p>10<sup>−6 </sup>m</p>", "10⁻⁶ m"),
        ("<p>在3<sup>2</sup>天内</p>", "在3²天内"),
        ("<p>fee is <del>100</del><ins>200</ins> euros</p>", "fee is 200 euros"),
        ("<p><math><mfrac><mn>1</mn><mn>2</mn></mfrac></math> cup</p>", "1/2 cup"),
        ("<p>Press <button>Save</button> first</p><button>Copy</button>", "Press Save first"),
        ("<p><ruby>计<rt>ji</rt>划<rt>hua</rt></ruby></p>", "计划"),
        (
            "<p><span style='display:block'>is 5</span><span style='display:block'>0 is</span></p>",
            "is 5\n0 is",
        ),
        ("<style>.v{visibility:hidden}</style><p class=v>no</p><p>yes</p>", "yes"),
        ("<style>p.u,#w{opacity:0.0}</style><p class=u>no</p><p id=w>no</p><p>yes</p>", "yes"),
        ("<p style='color: transparent'>no</p><p>yes</p>", "yes"),
        ("<p style='clip-path:inset(100%)'>no</p><p>yes</p>", "yes"),
        ("<style>@media print{.w{display:none}.z{opacity:0}}</style><p class=w>yes</p>", "yes"),
    ],
)
def test_html_is_what_a_reader_sees(page: str, text: str) -> None:
    assert read_html(page).text == text


def test_no_quote_can_span_a_comment_of_markdown() -> None:
    text = read_markdown(
        "can hold un<!-- x -->limited, `<!-- code -->`\n\n<!-- alone -->\nend"
    ).text
    assert text == "can hold un\n\nlimited, `<!-- code -->`\n\n\nend"


MARKDOWN = {
    "brackets": "[" * 1_000_000,
    "links": "<http://" * 200_000,
    "comments": "<!--" * 300_000,
    "comments that end": "<!--" * 300_000 + "-->",
    "comments behind": "-->" + "<!--" * 300_000,
    "fences": "```\n" * 200_000,
    "backticks": "`" * 1_000_000,
    "blanks": " " * 1_000_000 + "x",
    "tabs": "a\t" * 500_000,
    "front matter": "---\n" + "a:\n" * 300_000,
    "chinese": "飞艇发动机的功率是九百千瓦。" * 60_000,
}
HTML = {
    "sheet of @": "<style>" + "@" * 1_000_000 + "</style>x",
    "sheet of rules": "<style>a{" + "display:none" * 100_000 + "</style>x",
    "open sheets": "<style>" * 200_000 + "x",
    "brackets": "<p>" + "[" * 1_000_000,
    "nesting": "<div>" * 20_000 + "x",
    "chinese": "<p>" + "字 " * 500_000,
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", MARKDOWN.values(), ids=MARKDOWN)
def test_a_megabyte_of_anything_is_read_in_linear_time(text: str) -> None:
    read_text(text)
    assert len(read_markdown(text).text) <= len(text)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("page", HTML.values(), ids=HTML)
def test_a_hostile_page_is_read_in_linear_time(page: str) -> None:
    assert len(read_html(page).text) <= len(page)
