"""JUnit XML: what is read from it, and why it is refused."""

import io
import tracemalloc

import pytest

from untilgreen.gates.output.reports.junit import read
from untilgreen.gates.output.tool_result import BadReport, ToolResult


def parse(text: str | bytes) -> ToolResult:
    return read(io.BytesIO(text.encode() if isinstance(text, str) else text))


def suite(*cases: str) -> str:
    return f"<testsuites><testsuite name='s'>{''.join(cases)}</testsuite></testsuites>"


def failing(name: str, classname: str = "shop.Till", said: str = "no") -> str:
    failure = f"<failure message='{said}'>trace</failure>"
    return f"<testcase classname='{classname}' name='{name}'>{failure}</testcase>"


def test_failures_and_errors_are_findings_by_class_and_name() -> None:
    seen = parse(
        suite(
            failing("opens"),
            "<testcase classname='shop.Till' name='sums' file='t.py'><error>first\nsecond</error></testcase>",
            "<testcase classname='shop.Till' name='waits'><skipped/></testcase>",
            "<testcase classname='shop.Till' name='closes'><system-out>failure</system-out></testcase>",
        )
    )

    assert [(each.id, each.message, each.file) for each in seen.findings] == [
        ("shop.Till::opens", "no", None),
        ("shop.Till::sums", "first\nsecond", "t.py"),
    ]
    assert (seen.passed, seen.failed, seen.skipped, seen.total) == (1, 2, 1, 4)
    assert seen.score == pytest.approx(1 / 3)


def test_the_same_finding_has_the_same_id_whatever_the_run() -> None:
    one = parse(suite(failing("opens[&lt;A at 0x7f0011223344&gt;-/tmp/a1/f.txt] (0.1s)")))
    other = parse(suite(failing("opens[&lt;A at 0x7f9911223344&gt;-/tmp/b2/f.txt] (0.2s)")))

    assert one.findings[0].id == other.findings[0].id


def test_a_test_without_class_goes_by_its_name() -> None:
    assert [finding.id for finding in parse(suite(failing("opens", classname=""))).findings] == ["opens"]


def test_a_lone_suite_and_suites_in_suites_are_read() -> None:
    nested = f"<testsuite><testsuite>{failing('a')}</testsuite>{failing('b')}</testsuite>"

    assert parse(nested).failed == 2


def test_namespaces_do_not_hide_tests() -> None:
    text = "<testsuite xmlns='urn:x'><testcase name='a'><failure/></testcase></testsuite>"

    assert [finding.id for finding in parse(text).findings] == ["a"]


@pytest.mark.parametrize("text", ["<testsuites/>", "<testsuite tests='0'></testsuite>"])
def test_a_report_without_tests_says_so(text: str) -> None:
    seen = parse(text)

    assert (seen.no_tests, [finding.id for finding in seen.findings]) == (True, ["no-tests"])


def test_declared_encodings_are_followed() -> None:
    text = "<?xml version='1.0' encoding='iso-8859-1'?>" + suite(failing("größe"))

    assert parse(text.encode("iso-8859-1")).findings[0].id == "shop.Till::größe"


BOMB = "".join(f"<!ENTITY x{n} '{f'&x{n - 1};' * 10}'>" for n in range(1, 12))


@pytest.mark.parametrize(
    "text",
    [
        f"<!DOCTYPE t [<!ENTITY x0 'ha'>{BOMB}]><testsuites>&x11;</testsuites>",
        "<!DOCTYPE t [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><testsuite name='&x;'/>",
        "<!DOCTYPE testsuites SYSTEM 'http://example.org/junit.dtd'><testsuites/>",
    ],
)
def test_document_types_and_with_them_entities_are_refused(text: str) -> None:
    with pytest.raises(BadReport, match="document type"):
        parse(text)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        b"\0\1\2\3",
        suite(failing("a"))[:-5].encode(),
        suite(failing("größe")).encode("iso-8859-1"),
        b"<?xml version='1.0' encoding='nonsense'?><testsuites/>",
        b"<?xml version='1.0' encoding='utf-7'?><testsuites/>",
        suite(failing("a")).encode("utf-32"),
        b"<testsuites>&undefined;</testsuites>",
        b"<testsuites/><testsuites/>",
    ],
    ids=["empty", "text", "binary", "cut", "not-utf-8", "unknown", "utf-7", "utf-32", "entity", "two"],
)
def test_xml_that_is_not_well_formed_is_refused(content: bytes) -> None:
    with pytest.raises(BadReport, match="well-formed"):
        parse(content)


def test_other_xml_is_refused() -> None:
    with pytest.raises(BadReport, match="root is 'coverage'"):
        parse("<coverage/>")


@pytest.mark.parametrize("outer", ["", "<testcase name='a'>"])
def test_depth_is_bounded(outer: str) -> None:
    with pytest.raises(BadReport, match="nested"):
        parse(f"<testsuites>{outer}" + "<a>" * 1_000_000)


def test_a_large_report_is_read_in_little_memory() -> None:
    passed = "<testcase classname='shop.Till' name='passes' time='0.001'><properties/></testcase>" * 1_000
    content = io.BytesIO(suite(passed * 30).encode())
    tracemalloc.start()
    try:
        seen = read(content)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert seen.passed == 30_000
    assert peak < 12_000_000  # a parsed tree takes several times that


def test_one_endless_token_takes_no_quadratic_time() -> None:
    with pytest.raises(BadReport, match="well-formed"):
        parse(b"<testsuites name='" + b"x" * 49_000_000)
