"""report: a real run in every format."""

import json
import shutil
from xml.etree import ElementTree as ET

import pytest

from tests.surfaces.cli.helpers import GREEN_CALC, UNITTEST, Cli, Invoke, eventually, script


@pytest.fixture
def green(calc: Cli) -> Cli:
    fix = calc.agent(f"cat > calc.py <<'END'\n{GREEN_CALC}END\necho I made it add.\n")
    assert calc("run", "Make add add.", "--agent", fix, "--gate", UNITTEST).code == 0
    return calc


def test_the_format_follows_the_file_name_or_the_flag(green: Cli) -> None:
    for name in ("r.html", "r.json", "r.xml", "r.md"):
        assert green("report", "--output", str(green.tmp / name)).code == 0

    html, markdown = (green.tmp / "r.html").read_text(), (green.tmp / "r.md").read_text()
    assert html.startswith("<!DOCTYPE html>")
    assert '<span class="add">+    return a + b</span>' in html
    assert "I made it add." in html
    assert "+    return a + b" in markdown
    told = json.loads((green.tmp / "r.json").read_text())
    assert (told["type"], told["status"], [lap["number"] for lap in told["laps"]]) == (
        "report",
        "converged",
        [0, 1],
    )
    assert ET.parse(green.tmp / "r.xml").getroot()[0].get("failures") == "0"
    assert green("report", "--format", "json").out == (green.tmp / "r.json").read_text()


def test_the_head_in_a_report_is_the_one_that_verify_wants(green: Cli) -> None:
    told = json.loads(green("report", "--format", "json").out)

    assert green("verify", told["run"], "--head", told["head"]).code == 0
    assert told["head"] in green("report").out
    assert told["head"] in green("report", "--format", "html", "-o", "-").out


def test_a_report_is_still_written_when_the_files_are_gone(green: Cli, invoke: Invoke) -> None:
    (run,) = green.ids
    shutil.rmtree(green.place / ".git")

    done = green("report", run)

    assert done.code == 0
    assert "# `Make add add.`" in done.out
    assert "The changes can't be shown" in done.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--format", "pdf"), "--format"),
        (("--output", "/nowhere/at/all.html"), "Name another file with --output."),
    ],
)
def test_what_can_not_be_written_is_reported(green: Cli, arguments: tuple[str, ...], sentence: str) -> None:
    done = green("report", *arguments)

    assert done.code == 2
    assert sentence in done.err


def test_html_goes_into_a_file_that_is_named_and_to_stdout_only_with_a_dash(green: Cli) -> None:
    written, piped = green("report", "--format", "html"), green("report", "--format", "html", "-o", "-")

    name = f"untilgreen-{green.ids[-1]}.html"
    assert (written.out, written.err) == ("", f"Wrote {name}\n")
    assert (green.place / name).read_text().startswith("<!DOCTYPE html>")
    assert piped.out.startswith("<!DOCTYPE html>")


def test_markdown_may_be_spelled_out(green: Cli) -> None:
    assert green("report", "--format", "markdown").out == green("report", "--format", "md").out
    assert green("report").out.startswith("# ")


def test_open_opens_the_report_in_the_browser(green: Cli) -> None:
    browser = script(green.tmp / "browser.sh", f'echo "$1" > {green.tmp}/opened\n')

    assert green("report", "--open", env={"BROWSER": f"{browser} %s"}).code == 0

    eventually((green.tmp / "opened").exists, "the browser")
    assert (green.tmp / "opened").read_text().strip().endswith(f"untilgreen-{green.ids[-1]}.html")


def test_a_machine_without_a_browser_says_where_the_report_is(green: Cli) -> None:
    done = green("report", "--open", env={"BROWSER": "/bin/false %s"})

    assert done.code == 0
    assert "No browser can be opened from here. The report's address is file:///" in done.err
