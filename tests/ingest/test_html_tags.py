"""Tags that pages repeat: each kind is looked at once, also for pages that come later.

How it can go wrong: what a style sheet says of one page is believed of another; an element whose id
hides it passes for one whose id only names a place.
"""

from activities.ingest.html import read_html
from activities.ingest.html_tags import Tags
from activities.ingest.visibility import Sheet

PLAIN = '<body><p id="one" class="k">First.</p><p id="two" class="k">Second.</p></body>'
HIDING = "<style>{rule} {{ display: none }}</style>"


def test_a_style_sheet_holds_for_its_own_page_only() -> None:
    whole = "First.\n\nSecond."
    assert read_html(PLAIN).text == whole
    assert read_html(HIDING.format(rule="#two") + PLAIN).text == "First."
    assert read_html(HIDING.format(rule=".k") + PLAIN).text == ""
    assert read_html(PLAIN).text == whole


def test_an_id_that_names_navigation_still_tells() -> None:
    page = '<body><p>Text.</p><div id="{name}"><p>One.</p><p>Two.</p></div></body>'
    assert read_html(page.format(name="chapter")).text == "Text.\n\nOne.\n\nTwo."
    assert read_html(page.format(name="searchbox")).text == "Text."
    assert read_html(page.format(name="searchbox-of-mine")).text == "Text.\n\nOne.\n\nTwo."


def test_tags_that_differ_in_names_of_places_mean_the_same() -> None:
    tags = Tags(Sheet(PLAIN), navigation=False)
    one = tags.learnt('<a id="one" name="one" href="#two">')
    assert one.link
    assert tags.learnt('<a id="two" name="two" href="#one">') is one
    asking = Tags(Sheet("<style>#two { display: none }</style>" + PLAIN), navigation=False)
    assert not asking.learnt('<a id="one">').dropped
    assert asking.learnt('<a id="two">').dropped
