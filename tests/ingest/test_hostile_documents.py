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


WHITE = "<p style='color:#fff'>white</p>"


@pytest.mark.parametrize(
    ("sheet", "body", "text"),
    [
        # Grounds that are not understood, or that belong to the whole page.
        ("html{background:#000}", WHITE, "white"),
        (":root{background:#000}", WHITE, "white"),
        ("*{background:#000}", WHITE, "white"),
        ("body{background-color:#111}", WHITE, "white"),
        ("body.x .y{background:#000}", f"<div class=y>{WHITE}</div>", ""),
        ("div .y{background:#000}", f"<div class=y>{WHITE}</div>", "white"),
        (".x.y{background:#000}", f"<div class='x y'>{WHITE}</div>", "white"),
        ("@media (min-width:9px){.y{background:#000}}", f"<div class=y>{WHITE}</div>", "white"),
        ("@media print{.y{background:#000}}", f"<div class=y>{WHITE}</div>", ""),
        (".y:hover{background:#000}", f"<div class=y>{WHITE}</div>", ""),
        (".y{background:url(a.png)}", f"<div class=y>{WHITE}</div>", "white"),
        (".y{background:white}", f"<div class=y>{WHITE}</div>", ""),
        (".w{color:hsl(0,0%,100%)}", "<p class=w>no</p>", ""),
        # Dark words inside of white ones are seen.
        ("", "<div style='color:#fff'>no <b style='color:#000'>yes</b> no</div>", "yes"),
        # The later and the heavier rule counts.
        (".s{display:none}.s{display:block}", "<p class=s>yes</p>", "yes"),
        (".s{display:block}.s{display:none}", "<p class=s>no</p>", ""),
        ("#i{display:block}.s{display:none}", "<p class=s id=i>yes</p>", "yes"),
        (".s{display:none!important}#i{display:block}", "<p class=s id=i>no</p>", ""),
        ("p{display:none}", "<p style='display:block'>yes</p>", "yes"),
        ("p{display:none !important}", "<p style='display:block'>no</p>", ""),
        (".a.b{display:none}", "<p class=a>yes</p><p class='a b'>no</p>", "yes"),
        (".a{display:none}div .a{display:block}", "<div><p class=a>yes</p></div>", "yes"),
        (".a{display:none}.on .a{display:block}", "<p class=a>no</p>", ""),
        (".a{display:none}.a:hover{display:block}", "<p class=a>no</p>", ""),
        ("div .a{display:none}", "<p class=a>yes</p>", "yes"),
        (".a{color:red; .b{display:none}}", "<p class=b>yes</p>", "yes"),
        (".a{ .b{color:red} display:none}", "<p class=a>no</p>", ""),
        # Comments, and conditions.
        ("/* x */.s{display:none}", "<p class=s>no</p>", ""),
        (".s/* , */{/*display:block*/display:none}", "<p class=s>no</p>", ""),
        ("<!-- .s{display:none} -->", "<p class=s>no</p>", ""),
        ("/*.s{display:none}", "<p class=s>yes</p>", "yes"),
        ("@media screen{.s{display:none}}", "<p class=s>no</p>", ""),
        ("@media (max-width:9px){.s{display:none}}", "<p class=s>yes</p>", "yes"),
        ("@supports (x:y){.s{display:none}}", "<p class=s>yes</p>", "yes"),
        ("@import 'x.css';.s{display:none}", "<p class=s>no</p>", ""),
        ("@font-face{x:y}.s{display:none}", "<p class=s>no</p>", ""),
        # What the browser itself hides.
        ("", "<p hidden>no</p>", ""),
        ("", "<p hidden style='display:block'>yes</p>", "yes"),
        (".s{display:block}", "<p hidden class=s>yes</p>", "yes"),
        ("", "<dialog open>yes</dialog><dialog>no</dialog>", "yes"),
        # What passes on is what the innermost element says.
        (
            ".h{visibility:hidden}",
            "<div class=h>no<p style='visibility:visible'>yes</p>no</div>",
            "yes",
        ),
        (".h{font-size:0}li{font-size:1rem}", "<ul class=h>no<li>yes</li></ul>", "- yes"),
        (".h{font-size:0}b{font-size:2em}", "<p class=h>no<b>no</b></p>", ""),
        # Out of sight.
        (".o{position:absolute;left:-9999px}", "<p class=o>no</p>", ""),
        (".o{left:-9999px}", "<p class=o>yes</p>", "yes"),
        ("", "<p style='text-indent:-9999px'>no</p>", ""),
        ("", "<p style='text-indent:-2em'>yes</p>", "yes"),
        ("", "<p style='margin-left:-10000px'>no</p>", ""),
        ("", "<p style='margin-left:-10px'>yes</p>", "yes"),
        ("", "<p style='position:absolute;clip:rect(0 0 0 0)'>no</p>", ""),
        ("", "<p style='position:absolute;clip:rect(1px, 1px, 1px, 1px)'>no</p>", ""),
        ("", "<p style='width:1px;height:1px;overflow:hidden'>no</p>", ""),
        ("", "<p style='width:100px;height:1px;overflow:hidden'>yes</p>", "yes"),
    ],
)
def test_style_sheets(sheet: str, body: str, text: str) -> None:
    page = f"<html><head><style>{sheet}</style></head><body>{body}</body></html>"
    assert read_html(page).text == text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (f"<html style='background:#000'><body>{WHITE}", "white"),
        (f"<style>.d{{background:#000}}</style><html class=d><body>{WHITE}", "white"),
        ("<style media=print>.s{display:none}</style><p class=s>yes", "yes"),
        ("<style media='screen, print'>.s{display:none}</style><p class=s>no", ""),
        ("<style media='(max-width: 9px)'>.s{display:none}</style><p class=s>yes", "yes"),
    ],
)
def test_sheets_and_their_pages(page: str, text: str) -> None:
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
    "open comments of sheets": "<style>" + "/*" * 500_000 + "</style>x",
    "nested rules": "<style>" + "a{" * 300_000 + "}" * 300_000 + "</style>x",
    "selectors": "<style>" + ".a>" * 300_000 + "b{display:none}</style>x",
    "many selectors": "<style>"
    + ",".join(f".c{n}" for n in range(90_000))
    + "{color:#fff}</style>x",
    "brackets of selectors": "<style>" + "(" * 500_000 + "{display:none}</style>x",
    "clips": "<p style='clip:rect(" + "1 " * 300_000 + "'>x",
    "colours": "<p style='color:rgba(" + " " * 500_000 + "'>x",
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
