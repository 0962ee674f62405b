"""Text from outside, in any field: every surface shows it, and it has no other effect."""

import io
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree as ET

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console

from tests.surfaces.hostile import PIECES, TEXTS, UNSAFE, UNSAFE_BUT_LINES, ended, events, played
from tests.surfaces.live.test_github_actions import commands_in
from tests.surfaces.report.test_html import ATTRIBUTES, TAGS
from untilgreen.core.loop.fold import apply
from untilgreen.core.values.events import RunStarted
from untilgreen.notify.messages import KINDS, news
from untilgreen.ports import Activity
from untilgreen.surfaces.hook import answers
from untilgreen.surfaces.json.lines import EventLine
from untilgreen.surfaces.live.github_actions import Actions
from untilgreen.surfaces.live.live_view import LiveView
from untilgreen.surfaces.live.views import Lines
from untilgreen.surfaces.report import html, junit, markdown
from untilgreen.surfaces.report.content import WHOLE, Diff, Report, gather
from untilgreen.surfaces.text import summary
from untilgreen.surfaces.text.event_lines import line
from untilgreen.surfaces.why.evidence import reasons
from untilgreen.surfaces.why.text import words

ALL = "".join(PIECES)
"""Every trick at once."""
hostile = given(text=TEXTS)
few = settings(
    max_examples=int(os.environ.get("FUZZ_EXAMPLES", "12")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


def tokens(document: str) -> list[Token]:
    """The tokens of GitHub's Markdown, except that plain addresses do not become links."""
    reader = MarkdownIt("gfm-like", {"linkify": False, "html": True})
    return [each for block in reader.parse(document) for each in [block, *(block.children or [])]]


def report(text: str) -> Report:
    diff = f"diff --git a/{text} b/{text}\n+{text}\n-{text}\n"
    return gather(
        ended(text), "0" * 16, started=0.0, diffs={1: diff, WHOLE: diff}, missing="", flags=" --state-dir d"
    )


class Page(HTMLParser):
    """The elements and attributes of a page, parsed as leniently as a browser does."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.others: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_comment(self, data: str) -> None:
        self.others.append(data)

    def handle_pi(self, data: str) -> None:
        self.others.append(data)

    def unknown_decl(self, data: str) -> None:
        self.others.append(data)


@few
@hostile
@example(text=ALL)
def test_a_page_has_no_element_attribute_or_comment_but_ours(text: str) -> None:
    page = html.page(report(text))
    seen = Page(page)

    assert seen.tags <= TAGS
    assert seen.attributes <= ATTRIBUTES
    assert seen.others == []
    assert not UNSAFE_BUT_LINES.search(page)
    assert page.encode()


@few
@hostile
@example(text=ALL)
@example(text="\\|[x](http://e.example)")
@example(text="www.e.example")
@example(text="http://e.example")
@example(text="~~x~~")
def test_in_markdown_no_text_of_others_is_a_link_an_image_markup_or_a_mention(text: str) -> None:
    document = markdown.document(report(text))
    found = tokens(document)

    assert {each.type for each in found} <= {each.type for each in tokens(markdown.document(report("word")))}
    assert sum(each.type == "strong_open" for each in found) == 1, "the outcome"
    said = [each.content for each in found if each.type == "text"]
    assert not [each for each in said if re.search(r"https?:|www\.|@|e\.example", each)]
    rows = re.findall(r"^\|.*\|$", document, re.MULTILINE)
    assert sum(each.type == "tr_open" for each in found) == len(rows) - 2, "two tables, each with a separator"
    assert not UNSAFE_BUT_LINES.search(document)


def test_in_markdown_the_reason_why_changes_are_not_shown_is_text_too() -> None:
    text = "`git diff-tree` failed: ![i](http://e.example/i)\n\n# heading"
    document = markdown.document(msgspec.structs.replace(report("word"), missing=text, diff=""))

    assert not {each.type for each in tokens(document)} & {"link_open", "image"}
    assert "\n# heading" not in document


@pytest.mark.parametrize("ticks", [3, 4, 9])
def test_in_markdown_a_diff_does_not_end_the_block_that_it_is_in(ticks: int) -> None:
    diff = f" {'`' * ticks}\n ![i](http://e.example/i)\n {'`' * ticks}\n"
    document = markdown.document(msgspec.structs.replace(report("word"), diff=Diff(text=diff)))

    assert not [each for each in tokens(document) if each.type == "image"]
    assert diff.rstrip() in document


@few
@hostile
@example(text=ALL)
def test_junit_can_be_read_and_has_the_cases_of_the_run_only(text: str) -> None:
    document = junit.document(report(text))
    suites = ET.fromstring(document)

    assert len(list(suites.iter("testcase"))) == 3
    assert {each.tag for each in suites.iter()} <= {
        *("testsuites", "testsuite", "testcase", "failure", "error", "skipped", "properties", "property"),
    }
    assert not UNSAFE_BUT_LINES.search(document)


@few
@hostile
@example(text=ALL)
def test_no_line_on_a_terminal_holds_anything_but_text(text: str) -> None:
    state = ended(text)
    told = [line(event, state) or "" for event in events(text) if not isinstance(event, RunStarted)]
    told += [line(event, state) or "" for event in played(text).events]
    told += summary.beginning_lines(state)
    for ascii_only in (False, True):
        told += summary.summary(state, width=80, ascii_only=ascii_only, wrapped=True)[1:]
        told += summary.summary(state, width=80, ascii_only=ascii_only)[0].splitlines()
        told += words(reasons(state), width=80, ascii_only=ascii_only)

    assert [each for each in told if UNSAFE.search(each)] == []


@few
@hostile
@example(text=ALL)
def test_the_live_view_draws_text_only(text: str) -> None:
    file = io.StringIO()
    console = Console(file=file, width=80, color_system=None, highlight=False)
    view, state = LiveView(console, lambda: 0.0), None
    for event in played(text).events:
        state = apply(state, event)
        view.on_event(event, state)
    assert state is not None
    for event in events(text):
        view.on_event(event, state)
    view.on_activity(Activity(kind="text", text=text))
    view.show_keys(text)
    console.print(view)

    assert [each for each in file.getvalue().split("\n") if UNSAFE.search(each)] == []


@few
@hostile
@example(text=ALL)
def test_on_github_no_text_of_others_is_a_command(text: str) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        said = io.StringIO()
        patch.setattr("sys.stderr", said)
        summary, state = Path(folder, "summary.md"), None
        with Actions(Lines(verbose=True), summary) as view:
            for event in played(text).events:
                state = apply(state, event)
                view.on_event(event, state)
                view.on_activity(Activity(kind="text", text=text))
        written = summary.read_text()

    ours = r"::(group::(lap \d+|before lap 1)|endgroup::|(error|warning) [^\n]*::[^\n]*)"
    heard = commands_in(said.getvalue())
    assert [each for each in heard if not re.fullmatch(ours, each)] == []
    for each in heard:
        assert not re.search(r"%(?!25|3A|2C)", each), "an escape that the runner decodes"
    assert not UNSAFE_BUT_LINES.search(said.getvalue() + written)


@few
@hostile
@example(text=ALL)
def test_json_is_one_line_that_can_be_read_back(text: str) -> None:
    state = ended(text)
    lines = [summary.as_json(state, "h"), reasons(state), report(text)]
    lines += [EventLine(run="r", event=event) for event in events(text)]
    told = [each for event in events(text) for each in [news(event, state, KINDS)] if each is not None]

    assert told
    for value in (*lines, *told):
        written = msgspec.json.encode(value)
        assert b"\n" not in written
        assert msgspec.json.decode(written, type=type(value)) == value


@few
@hostile
@example(text=ALL)
def test_what_a_session_shows_its_person_is_text_only(text: str) -> None:
    toast = answers.resting(ended(text))
    for agent in ("claude", "codex", "gemini", "qwen", "copilot", "opencode"):
        for answer in (answers.Answer(toast=toast), answers.Answer(refused=text)):
            told = msgspec.json.decode(answers.written(answer, "prompt", agent) or b"{}")
            assert not [each for each in told.values() if UNSAFE_BUT_LINES.search(str(each))]
