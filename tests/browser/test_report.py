"""The HTML report in a real browser: it opens from a file, requests nothing else, and runs no script."""

from pathlib import Path

import pytest

from tests.browser.conftest import Opener
from tests.surfaces.report.played import green, hostile
from untilgreen.surfaces.report.content import Report
from untilgreen.surfaces.report.html import page

HANDLERS = """
() => [...document.all].filter(each => each.getAttributeNames().some(name => name.startsWith('on'))).length
"""
WHAT_IT_PAINTS = """
() => {
  const seen = [];
  for (const element of document.querySelectorAll('h1, p, td, th, summary, .badge, figcaption, dt, dd')) {
    if (!element.textContent.trim() || !element.checkVisibility()) continue;
    let behind = element;
    const clear = 'rgba(0, 0, 0, 0)';
    while (behind && getComputedStyle(behind).backgroundColor === clear) behind = behind.parentElement;
    const ground = behind ? getComputedStyle(behind).backgroundColor : 'rgb(255, 255, 255)';
    seen.push([element.textContent.trim().slice(0, 40), getComputedStyle(element).color, ground]);
  }
  return seen;
}
"""


def written(folder: Path, report: Report) -> Path:
    file = folder / "report.html"
    file.write_bytes(page(report).encode())
    return file


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_hostile_text_is_shown_and_does_nothing(tmp_path: Path, opened: Opener, scheme: str) -> None:
    file = written(tmp_path, hostile())

    shown = opened(file, scheme=scheme)
    for summary in shown.locator("summary").all():
        summary.click()

    assert shown.title().startswith("stuck: ")
    assert shown.asked == [file.as_uri()]
    assert shown.findings == []
    assert shown.locator("script, iframe, img, a, form, object, embed, link").count() == 0
    assert "<script>document.title='owned'</script>" in shown.locator("main").inner_text()
    assert shown.evaluate(HANDLERS) == 0


def test_a_script_would_not_run_even_if_one_got_in(tmp_path: Path, opened: Opener) -> None:
    file = tmp_path / "report.html"
    broken = page(green()).replace("<main>", "<main><script>document.title='owned'</script>", 1)
    file.write_text(broken.replace("<h1>", "<h1 style='color:red' onclick='1'><img src=x.png>", 1))

    shown = opened(file)

    assert shown.title().startswith("converged: ")
    assert any("Content Security Policy" in each for each in shown.findings)
    assert shown.got == [file.as_uri()]


def light(color: str) -> float:
    """The relative luminance of a color, as defined by WCAG."""
    channels = [int(part) / 255 for part in color.removeprefix("rgb(").rstrip(")").split(",")]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_by_day_and_by_night(tmp_path: Path, opened: Opener, scheme: str) -> None:
    shown = opened(written(tmp_path, green()), scheme=scheme)

    painted: list[list[str]] = shown.evaluate(WHAT_IT_PAINTS)
    ground = shown.evaluate("() => getComputedStyle(document.body).backgroundColor")

    assert len(painted) > 40
    assert [row for row in painted if contrast(row[1], row[2]) < 4.5] == []
    assert (light(ground) > 0.5) == (scheme == "light")


@pytest.mark.parametrize("width", [390, 1200, 2000])
def test_only_tables_scroll_sideways_on_any_screen(tmp_path: Path, opened: Opener, width: int) -> None:
    shown = opened(written(tmp_path, hostile()), width=width)
    for summary in shown.locator("summary").all():
        summary.click()

    assert shown.evaluate("() => document.documentElement.scrollWidth") <= width


def test_a_screen_reader_hears_each_plot_and_each_cell(tmp_path: Path, opened: Opener) -> None:
    shown = opened(written(tmp_path, green()))

    heard = shown.locator("main").aria_snapshot()

    for plot in ("Score by lap", "Findings by lap", "Cost used"):
        assert f'img "{plot}' in heard
    assert 'cell "1 failing, passed before"' in heard
    assert 'rowheader "tests"' in heard


def test_each_plot_has_room_to_be_seen(tmp_path: Path, opened: Opener) -> None:
    shown = opened(written(tmp_path, green()))

    assert shown.locator("figure svg").count() == 3
    for drawn in shown.locator("figure svg").all():
        box = drawn.bounding_box()
        assert box["width"] > 200
        assert box["height"] > 100
