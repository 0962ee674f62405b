"""Reports that an agent wrote to deceive or to do harm: each is an error, in little memory and time."""

import os
import tracemalloc
from pathlib import Path

import pytest

from untilgreen.core.values.model import Verdict
from untilgreen.gates.command import CommandGate
from untilgreen.ports import CheckContext

pytestmark = pytest.mark.anyio

MOST_BYTES = 150_000_000
"""Three times the largest report that is read at all."""
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
BOMB = f'<!DOCTYPE t [<!ENTITY l0 "ha">{LAUGHS}]><testsuite><testcase name="&l11;"/></testsuite>'
QUADRATIC = f'<!DOCTYPE t [<!ENTITY a "{"x" * 50_000}">]><testsuite name="{"&a;" * 1_000}"/>'
OUTSIDE = (
    '<!DOCTYPE t [<!ENTITY e SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&e;"/></testsuite>'
)
PARAMETER = '<!DOCTYPE t [<!ENTITY % e SYSTEM "http://127.0.0.1:9/e.dtd"> %e;]><testsuite/>'
JUNIT = '<testsuite><testcase name="a"/></testsuite>'
CTRF = '{"results": {"tests": [{"name": "a", "status": "passed"}], "summary": {"tests": 1}}}'
SARIF = '{"version": "2.1.0", "runs": [{"results": []}]}'
TAP = "TAP version 13\n1..2\nok 1 - a\nok 2 - b\n"


async def verdict(context: CheckContext, name: str, content: bytes) -> Verdict:
    """The verdict of a gate whose command succeeds and writes this report; its memory is limited."""
    made = context.root.parent / "made"
    made.write_bytes(content)
    tracemalloc.start()
    try:
        found = await CommandGate(f"cat '{made}' > {name}", report=name).check(context)
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    finally:
        tracemalloc.stop()
    return found


@pytest.mark.parametrize("content", [BOMB, QUADRATIC, OUTSIDE, PARAMETER], ids=len)
async def test_entities_of_xml_are_refused_before_they_grow_or_reach_out(
    context: CheckContext, content: str
) -> None:
    found = await verdict(context, "junit.xml", content.encode())

    assert found.status == "error"
    assert "declares a document type" in found.findings[0].message
    assert "root:" not in str(found)


@pytest.mark.parametrize(
    ("name", "whole"),
    [("junit.xml", JUNIT), ("ctrf.json", CTRF), ("lint.sarif", SARIF), ("lint.json", SARIF), ("t.tap", TAP)],
)
async def test_a_report_that_is_cut_off_is_an_error(context: CheckContext, name: str, whole: str) -> None:
    assert (await verdict(context, name, whole.encode())).status == "pass"

    found = await verdict(context, name, whole.encode()[:-12])

    assert (found.status, found.findings[0].id) == ("error", "report")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("junit.xml", JUNIT.replace("a", "\xe9").encode("latin-1")),
        ("junit.xml", b'<?xml version="1.0" encoding="no-such"?>' + JUNIT.encode()),
        ("ctrf.json", CTRF.replace('"a"', '"\xe9"').encode("latin-1")),
        ("ctrf.json", CTRF.encode("utf-16")),
        ("lint.sarif", SARIF.encode("utf-16")),
        ("t.tap", TAP.replace("- a", "- \xe9").encode("latin-1")),
        ("t.tap", TAP.encode("utf-16")),
    ],
)
async def test_a_report_in_the_wrong_encoding_is_an_error(
    context: CheckContext, name: str, content: bytes
) -> None:
    found = await verdict(context, name, content)

    assert (found.status, found.findings[0].id) == ("error", "report")


@pytest.mark.parametrize("name", ["junit.xml", "ctrf.json", "lint.sarif", "t.tap"])
async def test_half_a_gigabyte_is_refused_unread(context: CheckContext, name: str) -> None:
    tracemalloc.start()
    try:
        found = await CommandGate(f"truncate -s 500M {name}", report=name).check(context)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert found.status == "error"
    assert "is larger than 50 MB" in found.findings[0].message
    assert peak < MOST_BYTES


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("deep.json", b'{"results":' * 100_000),
        ("deep.sarif", b'{"version":"2.1.0","runs":' + b"[" * 1_000_000),
        ("deep.xml", b"<testsuite>" * 1_000_000),
    ],
)
async def test_endless_nesting_is_an_error(context: CheckContext, name: str, content: bytes) -> None:
    assert (await verdict(context, name, content)).status == "error"


@pytest.mark.parametrize("where", ["around a test", "inside of a test"])
async def test_xml_that_is_whole_and_very_deep_is_an_error(context: CheckContext, where: str) -> None:
    tag = "testsuite" if where == "around a test" else "system-out"
    deep = f"<{tag}>" * 50_000, f"</{tag}>" * 50_000
    inner = JUNIT.join(deep) if where == "around a test" else f'<testcase name="a">{"".join(deep)}</testcase>'

    found = await verdict(context, "deep.xml", f"<testsuites>{inner}</testsuites>".encode())

    assert found.status == "error"
    assert "is nested more than 100 levels deep" in found.findings[0].message


@pytest.mark.parametrize(("name", "whole"), [("junit.xml", JUNIT), ("ctrf.json", CTRF), ("t.tap", TAP)])
async def test_a_report_older_than_the_gates_start_is_an_error(
    context: CheckContext, name: str, whole: str
) -> None:
    """The command copies an old report into place instead of writing one."""
    kept = context.root.parent / "kept"
    kept.write_text(whole)
    os.utime(kept, (1, 1))

    found = await CommandGate(f"cp -p '{kept}' {name}", report=name).check(context)

    assert found.status == "error"
    assert "is older than this run of the gate" in found.findings[0].message


async def test_paths_in_reports_are_seen_from_the_workspace(context: CheckContext, tmp_path: Path) -> None:
    place = {"physicalLocation": {"artifactLocation": {"uri": "URI"}, "region": {"startLine": 3}}}
    sarif = SARIF.replace(
        "[]", f'[{{"ruleId": "E1", "level": "error", "message": {{"text": "bad"}}, "locations": [{place}]}}]'
    ).replace("'", '"')
    ctrf = CTRF.replace('"passed"', f'"failed", "filePath": "{context.root}/src/a.ts"')
    made = tmp_path / "made"
    for name, text in (
        ("lint.sarif", sarif.replace("URI", f"file://{context.root}/src/a.ts")),
        ("ctrf.json", ctrf),
    ):
        made.write_text(text)

        found = await CommandGate(f"cp '{made}' {name}; exit 1", report=name).check(context)

        assert found.findings[0].file == "src/a.ts"
        assert found.findings[0].id.startswith("src/a.ts: ")
