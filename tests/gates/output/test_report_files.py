"""Reports are believed only if they are new, in the workspace, plain files and not too large."""

import os
import time
from pathlib import Path

import pytest

from untilgreen.gates.output.report_files import MOST_BYTES, Report
from untilgreen.gates.output.tool_result import BadReport

PASSING = "<testsuite><testcase name='a'/></testsuite>"
FAILING = "<testsuite><testcase name='b'><failure/></testcase></testsuite>"
EMPTY = "<testsuite/>"
LONG_AGO = 0


def report(root: Path, pattern: str = "junit.xml", cwd: str = "") -> Report:
    return Report(pattern=pattern, cwd=root / cwd, root=root)


def test_what_an_earlier_run_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / "junit.xml").write_text(PASSING)

    report(tmp_path).clear()

    assert not (tmp_path / "junit.xml").exists()


def test_only_what_matches_is_removed(tmp_path: Path) -> None:
    for name in ("TEST-a.xml", "TEST-b.xml", "pom.xml"):
        (tmp_path / name).write_text(PASSING)

    report(tmp_path, "TEST-*.xml").clear()

    assert [path.name for path in tmp_path.iterdir()] == ["pom.xml"]


def test_a_link_is_removed_and_not_what_it_points_to(tmp_path: Path) -> None:
    precious = tmp_path / "precious.xml"
    precious.write_text(PASSING)
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "junit.xml").symlink_to(precious)

    report(tmp_path / "root").clear()

    assert precious.read_text() == PASSING
    assert not (tmp_path / "root" / "junit.xml").is_symlink()


def test_nothing_is_removed_through_a_linked_directory(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "a.xml").write_text(PASSING)
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "reports").symlink_to(tmp_path / "precious")

    for pattern in ("reports/a.xml", "reports/*.xml", "*/a.xml"):
        with pytest.raises(BadReport, match="outside"):
            report(tmp_path / "root", pattern).clear()

    assert (tmp_path / "precious" / "a.xml").exists()


@pytest.mark.parametrize("pattern", ["../junit.xml", "../*.xml", "sub/../../junit.xml"])
def test_a_path_out_of_the_workspace_is_refused(tmp_path: Path, pattern: str) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)

    with pytest.raises(BadReport, match="outside"):
        report(root, pattern).clear()


def test_an_absolute_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadReport, match="absolute"):
        report(tmp_path, str(tmp_path / "junit.xml")).clear()


def test_a_path_up_but_still_inside_is_fine(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "junit.xml").write_text(FAILING)

    assert report(tmp_path, "../junit.xml", cwd="sub").read(LONG_AGO).failed == 1


def test_a_directory_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "junit.xml").mkdir()

    with pytest.raises(BadReport, match="directory"):
        report(tmp_path).clear()


def test_a_missing_report_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(BadReport, match="not written"):
        report(tmp_path).read(LONG_AGO)


def test_a_report_from_before_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    path.write_text(PASSING)
    since = time.time_ns()
    os.utime(path, ns=(since, since - 1_500_000_001))

    with pytest.raises(BadReport, match="older"):
        report(tmp_path).read(since)


def test_a_report_written_right_after_the_start_is_new_enough(tmp_path: Path) -> None:
    for _ in range(50):
        since = time.time_ns()
        (tmp_path / "junit.xml").write_text(PASSING)

        assert report(tmp_path).read(since).passed == 1


def test_a_file_system_that_knows_only_seconds_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    path.write_text(PASSING)
    since = time.time_ns()
    second = since // 1_000_000_000 * 1_000_000_000
    os.utime(path, ns=(second, second))

    assert report(tmp_path).read(since).passed == 1


def test_a_linked_report_is_refused(tmp_path: Path) -> None:
    (tmp_path / "made-up.xml").write_text(PASSING)
    (tmp_path / "junit.xml").symlink_to("made-up.xml")

    with pytest.raises(BadReport, match="link"):
        report(tmp_path).read(LONG_AGO)


def test_a_broken_link_is_refused_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "junit.xml").symlink_to("nowhere")

    with pytest.raises(BadReport, match="link"):
        report(tmp_path).read(LONG_AGO)


def test_a_pipe_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "junit.xml")

    with pytest.raises(BadReport, match="plain file"):
        report(tmp_path).read(LONG_AGO)


def test_too_much_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "junit.xml").open("wb") as file:
        file.truncate(MOST_BYTES + 1)

    with pytest.raises(BadReport, match="larger than 50 MB"):
        report(tmp_path).read(LONG_AGO)


def test_too_much_in_all_is_refused_too(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(PASSING)
    with (tmp_path / "b.xml").open("wb") as file:
        file.truncate(MOST_BYTES - 10)

    with pytest.raises(BadReport, match="larger than 50 MB"):
        report(tmp_path, "*.xml").read(LONG_AGO)


def test_files_that_match_a_pattern_are_added_up(tmp_path: Path) -> None:
    for name, content in {"a": PASSING, "b": FAILING, "c": EMPTY}.items():
        (tmp_path / f"TEST-{name}.xml").write_text(content)
    seen = report(tmp_path, "TEST-*.xml").read(LONG_AGO)

    assert (seen.passed, seen.failed, seen.no_tests) == (1, 1, False)
    assert [finding.id for finding in seen.findings] == ["b"]


def test_files_without_any_test_mean_no_tests(tmp_path: Path) -> None:
    for name in ("a.xml", "b.xml"):
        (tmp_path / name).write_text(EMPTY)

    assert report(tmp_path, "*.xml").read(LONG_AGO).no_tests


def test_links_that_go_in_circles_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")

    with pytest.raises(BadReport, match="not written"):
        report(tmp_path, "a/junit.xml").read(LONG_AGO)


def test_a_pattern_that_can_not_be_looked_for_is_refused(tmp_path: Path) -> None:
    # Python 3.13 accepts the pattern, and finds nothing.
    with pytest.raises(BadReport, match=r"not a valid pattern|not written"):
        report(tmp_path, "**x/*.xml").read(LONG_AGO)


def test_a_link_to_a_directory_is_removed_and_not_the_directory(tmp_path: Path) -> None:
    (tmp_path / "junit.xml").mkdir()
    (tmp_path / "link.xml").symlink_to("junit.xml")

    report(tmp_path, "link.xml").clear()

    assert (tmp_path / "junit.xml").is_dir()
    assert not (tmp_path / "link.xml").is_symlink()
