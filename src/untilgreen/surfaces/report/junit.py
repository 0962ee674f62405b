"""The outcome of a run as JUnit XML for CI: a test case for the run and one for each gate."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from untilgreen.core.values.model import Outcome, Verdict
from untilgreen.surfaces.report.content import Report
from untilgreen.surfaces.report.escaping import in_words, in_xml


def document(report: Report) -> str:
    """One suite; a gate's findings are the text of its failure."""
    verdicts = report.laps[-1].verdicts if report.laps else {}
    suite = ET.Element("testsuite", name=in_xml(f"untilgreen {report.run}"), time=f"{report.elapsed:.3f}")
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(report):
        ET.SubElement(properties, "property", name=name, value=in_xml(value))
    run = ET.SubElement(suite, "testcase", classname="untilgreen", name="run", time=f"{report.elapsed:.3f}")
    if report.outcome is None or not Outcome(report.outcome).good:
        ET.SubElement(run, "failure", message=in_xml(f"{report.status}: {report.reason}"))
    for gate in report.gates:
        _case(suite, gate.name, verdicts.get(gate.name), required=gate.required)
    for kind, tag in (
        ("tests", "testcase"),
        ("failures", "failure"),
        ("errors", "error"),
        ("skipped", "skipped"),
    ):
        suite.set(kind, str(sum(1 for _ in suite.iter(tag))))
    suites = ET.Element("testsuites")
    suites.append(suite)
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _properties(report: Report) -> list[tuple[str, str]]:
    return [
        ("task", report.title),
        ("outcome", report.status),
        ("laps", str(len(report.agent_laps))),
        ("cost", "unknown" if report.cost is None else f"{report.cost:.4f}"),
        ("tokens", "unknown" if report.tokens is None else str(report.tokens)),
        ("journal head", report.head),
    ]


def _case(suite: ET.Element, gate: str, verdict: Verdict | None, *, required: bool) -> None:
    took = f"{verdict.duration if verdict else 0:.3f}"
    case = ET.SubElement(suite, "testcase", classname="gates", name=in_xml(gate), time=took)
    if verdict is None or verdict.status == "skip":
        ET.SubElement(case, "skipped", message="did not run")
    elif verdict.status != "pass" and not required:
        ET.SubElement(case, "skipped", message=f"{in_words(verdict)}; not required")
    elif verdict.status != "pass":
        tag = "failure" if verdict.status == "fail" else "error"
        told = ET.SubElement(case, tag, message=in_words(verdict))
        told.text = in_xml(_told(verdict))


def _told(verdict: Verdict) -> str:
    lines = [f"{each.id}: {each.message}".rstrip(": ") for each in verdict.findings]
    return "\n".join([*lines, verdict.excerpt]).strip()
