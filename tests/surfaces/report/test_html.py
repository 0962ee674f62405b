"""The HTML report: one file, no script, a text alternative for each plot, and foreign text only as text."""

import base64
import re
from hashlib import sha256
from html.parser import HTMLParser

from tests.surfaces.report.played import green, hostile
from untilgreen.surfaces.report.html import page

# fmt: off
TAGS = frozenset([
    "html", "head", "meta", "title", "style", "body", "main", "section", "h1", "h2", "h3", "p", "span",
    "div", "b", "table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary", "figure",
    "figcaption", "svg", "desc", "polygon", "polyline", "circle", "rect", "line", "text", "pre", "ul",
    "li", "dl", "dt", "dd", "code", "aside",
])
ATTRIBUTES = frozenset([
    "rx", "preserveaspectratio",
    "lang", "charset", "http-equiv", "content", "name", "class", "scope", "title", "tabindex", "role",
    "aria-label", "aria-labelledby", "aria-hidden", "id", "viewbox", "points", "cx", "cy", "r", "x",
    "y", "x1", "x2", "y1", "y2", "width", "height", "text-anchor",
])
# fmt: on


class Page(HTMLParser):
    """Every tag and attribute of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_whatever_others_wrote_no_tag_or_attribute_is_theirs() -> None:
    shown = Page(page(hostile()))

    assert {tag for tag, _ in shown.tags} <= TAGS
    assert {name for _, attrs in shown.tags for name in attrs} <= ATTRIBUTES
    assert shown.open == []
    assert "<script>document.title='owned'</script>" in shown.text, "it is shown as text"
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", page(hostile()))


def test_the_policy_allows_nothing_but_the_style_of_the_page() -> None:
    text = page(green())
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    policy = next(attrs["content"] for tag, attrs in Page(text).tags if "http-equiv" in attrs)

    assert style is not None
    digest = base64.b64encode(sha256(style[1].encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert text.index("http-equiv") < text.index("<style>")


def test_each_plot_has_a_description_and_a_table_with_its_numbers() -> None:
    text = page(green())
    figures = re.findall(r"<figure .*?</figure>", text, re.DOTALL)

    assert len(figures) == 3
    for figure in figures:
        labels = re.search(r'role="img" aria-labelledby="(\S+) (\S+)"', figure)
        assert labels is not None
        assert f'<title id="{labels[1]}">' in figure
        assert f'<desc id="{labels[2]}">' in figure
        assert figure.count("<tr>") == 5, "a heading, the untouched tree and three laps"
    assert "$0.60 of $1.00 allowed after 3 laps." in text
    assert "The score went from 0.50 to 1.00 over 3 laps" in text


def test_the_picture_says_in_words_what_its_signs_mean_and_what_broke() -> None:
    text = page(green())

    assert 'title="1 failing, passed before"' in text
    assert text.count('class="broke"') == 1
    assert '<th scope="col" class="best">3</th>' in text


def test_changes_are_shown_by_lap_and_in_all() -> None:
    assert page(green()).count('<span class="add">+a + b</span>') == 3


def test_a_diff_contains_no_markup_but_our_own() -> None:
    patches = re.findall(r'<pre class="patch">(.*?)</pre>', page(hostile()), re.DOTALL)

    assert len(patches) == 2
    for patch in patches:
        text = re.sub(r"<span(?: class=\"[a-z]+\")?>|</span>", "", patch)
        assert text.count("&lt;script&gt;") == 3
        assert not set("<>\"'") & set(text)
