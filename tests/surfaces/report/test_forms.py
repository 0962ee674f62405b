"""Markdown, JUnit and JSON: the same run for pull requests, for CI and for programs."""

import re
from xml.etree import ElementTree as ET

import msgspec
from inline_snapshot import snapshot

from tests.surfaces.report.played import green, hostile
from untilgreen.surfaces.report import junit, markdown
from untilgreen.surfaces.report.content import Report


def test_markdown_has_the_end_the_picture_and_how_to_continue() -> None:
    assert "\n".join(markdown.summary(green())) == snapshot("""\
# `make it green`

**converged**: `all required gates pass in lap 3`

3 laps · 2 of 2 gates green · score 1.00 · 1m23s · $0.60 · 2,900 tokens

## Gates by lap

| lap | 0 | 1 | 2 | 3 |
|---|---|---|---|---|
| `tests` | ✕3 | ✕1 | ✕2 | ✓ |
| `style` | ✓ | ✓ | ✕1 | ✓ |
| score | 0.50 | 0.75 | 0.00 | 1.00 |

## Why

Decision after lap 3: end the run as converged (strategy `hybrid`, confidence 1.00).
Reason: `all required gates pass in lap 3`


Next steps:

- see the changes: `untilgreen diff r1`
- check that the result still holds: `untilgreen verify r1`
- share it: `untilgreen report r1 --format html --output report.html`
""")


def outside_of_code(text: str) -> str:
    """The text without code: what a Markdown reader takes for markup."""
    text = re.sub(r"^(`{3,})\w*\n.*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", text)


def test_in_markdown_the_text_of_others_is_always_code() -> None:
    text = markdown.document(hostile())

    assert "owned" in text
    assert "owned" not in outside_of_code(text)
    assert "@" not in outside_of_code(text)
    assert "<" not in outside_of_code(text)
    assert "\x1b" not in text


def test_junit_has_a_case_for_the_run_and_one_for_each_gate() -> None:
    (suite,) = ET.fromstring(junit.document(green()))

    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3",
        "failures": "0",
        "errors": "0",
        "skipped": "0",
    }
    assert [case.get("name") for case in suite.iter("testcase")] == ["run", "tests", "style"]


def test_junit_of_a_stuck_run_fails_and_survives_hostile_text() -> None:
    (suite,) = ET.fromstring(junit.document(hostile()))

    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    failure = next(suite.iter("failure"))
    assert str(failure.get("message")).startswith("stuck: cycle in laps")


def test_json_is_the_report_itself_and_can_be_read_back() -> None:
    report = hostile()

    assert msgspec.json.decode(msgspec.json.encode(report), type=Report) == report
