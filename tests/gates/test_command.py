"""A shell command as a gate: real commands, real pytest, real unittest."""

import os
import sys
import time
import tracemalloc
from pathlib import Path

import anyio
import psutil
import pytest
from msgspec.structs import replace

from untilgreen.core.briefing.excerpt import EXCERPT_BYTES, kept_verdict
from untilgreen.core.values.model import ToolCount, Verdict
from untilgreen.errors import ConfigError
from untilgreen.gates.command import CommandGate
from untilgreen.ports import CheckContext

PASSING = "<testsuite><testcase classname='c' name='a'/></testsuite>"
FAILING = (
    "<testsuite><testcase classname='c' name='a'/><testcase classname='c' name='b'>"
    "<failure message='no'/></testcase></testsuite>"
)


def ids(verdict: Verdict) -> list[str]:
    return [finding.id for finding in verdict.findings]


def write(context: CheckContext, name: str, content: str) -> Path:
    path = context.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def alive(pid: int) -> bool:
    """Whether the process is running; one that exited and was not waited for yet is not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


# Exit codes


async def test_the_expected_exit_code_is_a_pass(context: CheckContext) -> None:
    verdict = await CommandGate("echo fine").check(context)

    assert (verdict.status, verdict.score, verdict.findings, verdict.excerpt) == ("pass", 1.0, (), "fine\n")


async def test_another_exit_code_is_a_failure(context: CheckContext) -> None:
    verdict = await CommandGate("echo bad; exit 3").check(context)

    assert (verdict.status, verdict.score, verdict.findings) == ("fail", 0.0, ())
    assert verdict.digest


async def test_failure_can_be_what_is_expected(context: CheckContext) -> None:
    gate = CommandGate("exit 3", expect=3)

    assert (await gate.check(context)).status == "pass"


async def test_success_is_a_failure_where_failure_is_expected(context: CheckContext) -> None:
    verdict = await CommandGate("echo '3 passed in 0.01s'", expect=1).check(context)

    assert (verdict.status, verdict.score) == ("fail", 0.0)


async def test_a_command_that_is_not_there_could_not_run(context: CheckContext) -> None:
    verdict = await CommandGate("no-such-tool --all").check(context)

    assert (verdict.status, ids(verdict)) == ("error", ["cannot-run"])
    assert verdict.findings[0].message == (
        "command not found: no-such-tool. Install it, or change the gate's `run`."
    )


async def test_a_file_that_is_not_executable_could_not_run(context: CheckContext) -> None:
    write(context, "tool", "data").chmod(0o644)
    verdict = await CommandGate("./tool").check(context)

    assert (verdict.status, ids(verdict)) == ("error", ["cannot-run"])
    assert verdict.findings[0].message == (
        "permission denied: ./tool. Make it executable, or change the gate's `run`."
    )


async def test_a_missing_directory_could_not_be_run_in(context: CheckContext) -> None:
    verdict = await CommandGate("true", cwd="gone").check(context)

    assert (verdict.status, ids(verdict)) == ("error", ["cannot-run"])
    assert "gone" in verdict.findings[0].message


async def test_a_crash_without_a_word_is_named_by_its_signal(context: CheckContext) -> None:
    verdict = await CommandGate("kill -SEGV $$").check(context)

    assert (verdict.status, ids(verdict)) == ("fail", ["ended by SIGSEGV"])


async def test_silence_is_named_by_its_exit_code(context: CheckContext) -> None:
    assert ids(await CommandGate("exit 4").check(context)) == ["exit code 4"]


@pytest.mark.parametrize("run", ["", "  ", "a\0b"])
def test_a_gate_without_a_command_is_refused(run: str) -> None:
    with pytest.raises(ConfigError, match="needs a command"):
        CommandGate(run)


def test_a_report_in_an_unknown_format_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"'\.docx'.*Known: .*\.xml"):
        CommandGate("true", report="report.docx")


# Environment


async def test_a_gate_runs_in_its_directory_with_its_variables(context: CheckContext) -> None:
    (context.root / "sub").mkdir()
    gate = CommandGate('echo "$(basename "$PWD") $COLOR $UNTILGREEN_INSIDE"', cwd="sub", env={"COLOR": "red"})
    verdict = await gate.check(replace(context, env={"UNTILGREEN_INSIDE": "run-7"}))

    assert verdict.excerpt == "sub red run-7\n"


async def test_a_spec_can_not_say_that_it_is_outside(context: CheckContext) -> None:
    gate = CommandGate("echo $UNTILGREEN_INSIDE", env={"UNTILGREEN_INSIDE": ""})

    assert (await gate.check(replace(context, env={"UNTILGREEN_INSIDE": "1"}))).excerpt == "1\n"


async def test_errors_and_output_are_kept_in_the_order_of_writing(context: CheckContext) -> None:
    verdict = await CommandGate("echo one; echo two >&2; echo three").check(context)

    assert context.output is not None
    assert verdict.excerpt == context.output.read_text() == "one\ntwo\nthree\n"


async def test_a_second_run_overwrites_the_output(context: CheckContext) -> None:
    await CommandGate("echo first, and much longer").check(context)
    await CommandGate("echo second").check(context)

    assert context.output is not None
    assert context.output.read_text() == "second\n"


async def test_a_gate_needs_no_file_for_its_output(context: CheckContext) -> None:
    verdict = await CommandGate("echo bad; false").check(replace(context, output=None))

    assert (verdict.status, verdict.excerpt) == ("fail", "bad\n")


async def test_the_time_it_took_is_reported(context: CheckContext) -> None:
    assert (await CommandGate("sleep 0.2").check(context)).duration >= 0.2


async def test_a_gate_that_runs_out_of_time_says_what_it_had_seen_and_where_it_hangs(
    context: CheckContext, real_pytest: str
) -> None:
    hangs = "import time\n\ndef test_bad():\n    assert 1 == 2\n\ndef test_hangs():\n    time.sleep(300)\n"
    write(context, "test_slow.py", hangs)

    verdict = await CommandGate(f"{real_pytest} -v -x --maxfail=9").check(replace(context, seconds=6.0))

    assert verdict.status == "error"
    assert ids(verdict)[0] == "timeout"
    assert "test_slow.py::test_bad" in ids(verdict)
    assert "test_slow.py::test_hangs" in verdict.excerpt
    assert context.output is not None
    assert "test_slow.py::test_hangs" in context.output.read_text()


async def test_a_gate_that_runs_out_of_time_leaves_no_process_behind(context: CheckContext) -> None:
    gate = CommandGate("(setsid sleep 300 & echo $! > stray); trap '' TERM INT; sleep 300")

    verdict = await gate.check(replace(context, seconds=1.0))

    assert ids(verdict) == ["timeout"]
    assert not alive(int((context.root / "stray").read_text()))


async def test_a_cancelled_gate_leaves_no_process_behind(context: CheckContext) -> None:
    gate = CommandGate(
        "sleep 300 & echo $! > child; (setsid sleep 300 & echo $! > stray); echo ready > ready; sleep 300"
    )
    async with anyio.create_task_group() as group:
        group.start_soon(gate.check, context)
        while not (context.root / "ready").exists():  # noqa: ASYNC110 - another process creates it
            await anyio.sleep(0.01)
        pids = [int((context.root / name).read_text()) for name in ("child", "stray")]
        assert all(map(alive, pids))
        group.cancel_scope.cancel()

    assert not any(map(alive, pids))


async def test_a_daemon_that_a_gate_leaves_behind_does_not_hold_it_up(context: CheckContext) -> None:
    with anyio.fail_after(60):
        verdict = await CommandGate("sleep 300 & echo started").check(context)

    assert (verdict.status, verdict.excerpt) == ("pass", "started\n")


# Output


async def test_times_do_not_change_the_digest_of_a_failure_and_results_do(context: CheckContext) -> None:
    one = await CommandGate("echo 'lost 3 of 17 at 10:32:11'; false").check(context)
    other = await CommandGate("echo 'lost 3 of 17 at 11:00:09'; false").check(context)
    result = await CommandGate("echo 'lost 2 of 17 at 11:00:09'; false").check(context)

    assert one.digest == other.digest != result.digest


async def test_the_same_failure_in_a_copy_of_the_workspace_is_the_same(
    context: CheckContext, tmp_path: Path
) -> None:
    gate = CommandGate('echo "$PWD/src/app.c:3: error: gone"; false')
    copy = tmp_path / "copy"
    copy.mkdir()

    assert ids(await gate.check(context)) == ids(await gate.check(replace(context, root=copy))) == [
        "src/app.c: error: gone"
    ]  # fmt: skip


async def test_errors_after_green_tests_are_heard(context: CheckContext) -> None:
    write(
        context,
        "said",
        "3 passed in 0.01s\na.py:1: DeprecationWarning: old\nsrc/a.py:3: error: no such name\n",
    )

    assert ids(await CommandGate("cat said; exit 1").check(context)) == ["src/a.py: error: no such name"]


# Exit code 0 with failures in the output

RED_TEST = "def test_good():\n    pass\n\ndef test_bad():\n    assert 1 == 2\n"


async def test_a_place_that_looks_like_an_error_is_ignored_when_the_exit_code_is_right(
    context: CheckContext,
) -> None:
    verdict = await CommandGate("echo 'src/a.py:3: error: gone'").check(context)

    assert (verdict.status, verdict.score, verdict.findings) == ("pass", 1.0, ())


@pytest.mark.parametrize("hiding", ["|| true", "| tail -5", "; echo done"])
async def test_failed_tests_are_red_even_where_the_exit_code_is_hidden(
    context: CheckContext, hiding: str
) -> None:
    write(context, "test_it.py", RED_TEST)
    command = f"{sys.executable} -m pytest -q -p no:cacheprovider test_it.py {hiding}"

    verdict = await CommandGate(command).check(context)

    assert (verdict.status, ids(verdict)) == ("fail", ["test_it.py::test_bad"])
    assert verdict.excerpt.startswith("exit code 0, but 1 failed test (pytest)\n")


async def test_a_count_of_failures_is_enough_to_be_red(context: CheckContext) -> None:
    verdict = await CommandGate("echo '2 failed, 3 passed in 0.01s'").check(context)

    assert verdict.status == "fail"
    assert ids(verdict) == ["unnamed failure 1", "unnamed failure 2"]
    assert verdict.excerpt.startswith("exit code 0, but 2 failed tests (pytest)\n")


async def test_a_faked_exit_status_does_not_make_tests_pass(context: CheckContext) -> None:
    write(context, "test_it.py", RED_TEST)
    write(context, "conftest.py", "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n")

    verdict = await CommandGate(f"{sys.executable} -m pytest -q -p no:cacheprovider").check(context)

    assert (verdict.status, ids(verdict)) == ("fail", ["test_it.py::test_bad"])


async def test_a_test_run_that_ends_early_with_exit_code_0_is_red(context: CheckContext) -> None:
    write(context, "test_it.py", "import os, sys\nsys.stdout.flush()\nos._exit(0)\n")

    verdict = await CommandGate(f"{sys.executable} -m pytest -s -p no:cacheprovider").check(context)

    assert verdict.status == "fail"


async def test_a_report_with_a_failure_is_red(context: CheckContext) -> None:
    write(context, "made.xml", FAILING)

    verdict = await CommandGate("cp made.xml out.xml", report="out.xml").check(context)

    assert (verdict.status, ids(verdict)) == ("fail", ["c::b"])
    assert verdict.excerpt.startswith("exit code 0, but 1 failed test (junit)")


async def test_the_exit_code_alone_decides_where_the_spec_says_so(context: CheckContext) -> None:
    verdict = await CommandGate("echo '2 failed, 3 passed in 0.01s'", believe="exit-code").check(context)

    assert (verdict.status, verdict.score, verdict.findings) == ("pass", 1.0, ())


async def test_warnings_with_exit_code_0_are_not_a_failure(context: CheckContext) -> None:
    write(
        context,
        "said",
        "/p/a.js\n  1:1  warning  no  no-undef\n\n\u2716 1 problem (0 errors, 1 warning)\n",
    )

    assert (await CommandGate("cat said").check(context)).status == "pass"


async def test_errors_of_a_linter_are_red_even_where_the_exit_code_is_hidden(context: CheckContext) -> None:
    write(context, "said", "a.py:1: error: no  [x]\nFound 1 error in 1 file (checked 1 source file)\n")

    verdict = await CommandGate("cat said").check(context)

    assert (verdict.status, ids(verdict)) == ("fail", ["a.py: error: no [x]"])


async def test_every_tool_of_a_command_is_counted_and_heard(context: CheckContext) -> None:
    write(
        context,
        "said",
        "1 failed, 3 passed in 0.01s\n"
        "a.py:1: error: no  [x]\nFound 1 error in 1 file (checked 1 source file)\n",
    )

    verdict = await CommandGate("cat said; exit 1").check(context)

    assert ids(verdict) == ["unnamed failure 1", "a.py: error: no [x]"]
    assert verdict.tools == (
        ToolCount(tool="pytest", passed=3, failed=1, total=4),
        ToolCount(tool="mypy", failed=1),
    )


async def test_what_was_counted_is_kept_when_the_gate_passes(context: CheckContext) -> None:
    verdict = await CommandGate("echo '3 passed, 1 skipped in 0.01s'").check(context)

    assert verdict.tools == (ToolCount(tool="pytest", passed=3, total=3, skipped=1),)


async def test_colors_do_not_reach_the_brief(context: CheckContext) -> None:
    verdict = await CommandGate(r"printf '\033[31mred\033[0m'; false").check(context)

    assert verdict.excerpt == "red"


@pytest.mark.parametrize("ending", ["exit 0", "exit 1"])
async def test_a_hundred_megabytes_without_a_newline_need_little_memory(
    context: CheckContext, ending: str
) -> None:
    tracemalloc.start()
    try:
        verdict = await CommandGate(f"head -c 100000000 /dev/zero | tr '\\0' x; {ending}").check(context)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert verdict.status == ("pass" if ending == "exit 0" else "fail")
    assert peak < 30_000_000
    assert len(verdict.excerpt) < EXCERPT_BYTES + 200
    assert kept_verdict(verdict).status == verdict.status


async def test_binary_garbage_is_a_failure_like_any_other(context: CheckContext) -> None:
    write(context, "noise", "")
    (context.root / "noise").write_bytes(bytes(range(256)) * 400)
    verdict = await CommandGate("cat noise; false").check(context)

    assert verdict.status == "fail"
    assert context.output is not None
    assert context.output.read_bytes() == bytes(range(256)) * 400
    kept_verdict(verdict)


# Reports


async def test_a_report_gives_findings_and_a_partial_score(context: CheckContext) -> None:
    write(context, "made.xml", FAILING)
    verdict = await CommandGate("cp made.xml junit.xml; exit 1", report="junit.xml").check(context)

    assert (verdict.status, verdict.score, ids(verdict)) == ("fail", 0.5, ["c::b"])
    assert verdict.findings[0].message == "no"


async def test_a_green_report_does_not_make_a_red_exit_code_green(context: CheckContext) -> None:
    write(context, "made.xml", PASSING)
    verdict = await CommandGate("cp made.xml junit.xml; exit 1", report="junit.xml").check(context)

    assert verdict.status == "fail"


async def test_a_green_output_does_not_make_a_red_exit_code_green(context: CheckContext) -> None:
    verdict = await CommandGate("echo '3 passed in 0.01s'; exit 1").check(context)

    assert verdict.status == "fail"


async def test_a_report_that_was_there_before_is_not_read(context: CheckContext) -> None:
    write(context, "junit.xml", FAILING)
    verdict = await CommandGate("true", report="junit.xml").check(context)

    assert (verdict.status, ids(verdict)) == ("error", ["report"])
    assert "'junit.xml' was not written" in verdict.findings[0].message


async def test_an_old_report_moved_into_place_is_not_believed(context: CheckContext) -> None:
    old = write(context, "old.xml", PASSING)
    os.utime(old, (time.time() - 60.5, time.time() - 60.5))
    verdict = await CommandGate("mv old.xml junit.xml", report="junit.xml").check(context)

    assert (verdict.status, ids(verdict)) == ("error", ["report"])
    assert "older" in verdict.findings[0].message


async def test_a_red_command_without_its_report_is_red_and_still_explained(context: CheckContext) -> None:
    gate = CommandGate("echo 'src/a.c:3: error: gone'; exit 2", report="junit.xml")
    verdict = await gate.check(context)

    assert (verdict.status, ids(verdict)) == ("fail", ["src/a.c: error: gone", "report"])


@pytest.mark.parametrize(
    "make",
    [
        "echo '<testsuite><testcase' > junit.xml",
        "echo '<!DOCTYPE x><testsuite/>' > junit.xml",
        r"printf '<testsuite name=\"\377\"/>' > junit.xml",
        "ln -s made.xml junit.xml",
        "mkfifo junit.xml",
        "mkdir junit.xml",
        "head -c 60000000 /dev/zero > junit.xml",
    ],
    ids=["cut", "doctype", "encoding", "link", "pipe", "directory", "size"],
)
async def test_a_report_that_can_not_be_read_is_never_a_pass(context: CheckContext, make: str) -> None:
    write(context, "made.xml", PASSING)

    green = await CommandGate(make, report="junit.xml").check(context)
    (context.root / "junit.xml").unlink() if (context.root / "junit.xml").is_file() else None
    red = await CommandGate(f"rm -rf junit.xml; {make}; exit 1", report="junit*.xml").check(context)

    assert (green.status, ids(green)) == ("error", ["report"])
    assert red.status in ("fail", "error")
    assert "report" in ids(red)


@pytest.mark.parametrize("path", ["../junit.xml", "/tmp/junit.xml", "linked/junit.xml"])
async def test_a_report_outside_is_refused_before_anything_runs(context: CheckContext, path: str) -> None:
    (context.root / "linked").symlink_to(context.root.parent)
    verdict = await CommandGate("touch ran", report=path).check(context)

    assert (verdict.status, ids(verdict)) == ("error", ["report"])
    assert not (context.root / "ran").exists()


async def test_a_report_without_tests_is_a_failure(context: CheckContext) -> None:
    verdict = await CommandGate("echo '<testsuites/>' > junit.xml", report="junit.xml").check(context)

    assert (verdict.status, ids(verdict)) == ("fail", ["no-tests"])


# Real test runners

SHOP_TESTS = """
import unittest

class Till(unittest.TestCase):
    def test_opens(self):
        pass
    def test_sums(self):
        self.assertEqual(1 + 1, 3)
    def test_breaks(self):
        raise OSError("drawer")
    def test_parts(self):
        for i in range(3):
            with self.subTest(i=i):
                self.assertEqual(i, 1)
"""


async def test_real_pytest(context: CheckContext, real_pytest: str) -> None:
    write(context, "tests/test_shop.py", SHOP_TESTS + "\ndef test_plain():\n    assert 1 == 2, 'plainly'\n")
    verdict = await CommandGate(f"{real_pytest} -q").check(context)
    by_id = {finding.id: finding for finding in verdict.findings}

    assert verdict.status == "fail"
    assert {
        "tests/test_shop.py::Till::test_breaks",
        "tests/test_shop.py::Till::test_sums",
        "tests/test_shop.py::test_plain",
    } <= by_id.keys()
    assert by_id["tests/test_shop.py::test_plain"].message == "AssertionError: plainly"
    assert by_id["tests/test_shop.py::test_plain"].line == 17
    assert 0 < verdict.score < 1


@pytest.mark.parametrize(
    "options", ["", "-q", "-qq", "-v", "-vv --tb=short", "-rA --tb=no", "-v -rN", "--color=yes"]
)
async def test_real_pytest_names_the_same_test_whatever_its_options(
    context: CheckContext, real_pytest: str, options: str
) -> None:
    write(context, "test_one.py", "def test_good():\n    pass\n\ndef test_bad():\n    assert [1] == [2]\n")
    verdict = await CommandGate(f"{real_pytest} {options}").check(context)

    assert (verdict.status, verdict.score, ids(verdict)) == ("fail", 0.5, ["test_one.py::test_bad"])


async def test_real_pytest_and_its_report_agree(context: CheckContext, real_pytest: str) -> None:
    write(context, "test_one.py", "def test_good():\n    pass\n\ndef test_bad():\n    assert 0\n")
    verdict = await CommandGate(f"{real_pytest} -q --junitxml=out/junit.xml", report="out/junit.xml").check(
        context
    )

    assert (verdict.status, verdict.score, ids(verdict)) == ("fail", 0.5, ["test_one::test_bad"])


async def test_real_pytest_with_a_broken_import(context: CheckContext, real_pytest: str) -> None:
    write(context, "test_one.py", "import nothing_of_that_name\n")
    verdict = await CommandGate(real_pytest).check(context)

    assert (verdict.status, ids(verdict)) == ("fail", ["test_one.py"])
    assert "nothing_of_that_name" in verdict.findings[0].message


async def test_real_pytest_with_a_broken_conftest(context: CheckContext, real_pytest: str) -> None:
    write(context, "conftest.py", "import nothing_of_that_name\n")
    verdict = await CommandGate(real_pytest).check(context)

    assert (verdict.status, ids(verdict)) == ("fail", ["conftest.py"])
    assert "nothing_of_that_name" in verdict.findings[0].message


async def test_real_pytest_that_dies_is_found_at_its_test(context: CheckContext, real_pytest: str) -> None:
    write(
        context,
        "test_one.py",
        "import os\n\ndef test_good():\n    pass\n\ndef test_dies():\n    os.abort()\n",
    )
    verdict = await CommandGate(f"{real_pytest} -v").check(context)

    assert (verdict.status, verdict.score, ids(verdict)) == ("fail", 0.5, ["test_one.py::test_dies"])


@pytest.mark.parametrize("options", ["", "-q", "-qq", "-k nothing_like_it"])
async def test_real_pytest_without_tests_is_a_failure(
    context: CheckContext, real_pytest: str, options: str
) -> None:
    write(context, "test_one.py", "def test_good():\n    pass\n" if "-k" in options else "")
    verdict = await CommandGate(f"{real_pytest} {options}").check(context)

    assert (verdict.status, ids(verdict)) == ("fail", ["no-tests"])


async def test_no_tests_are_a_failure_even_if_the_exit_code_is_hidden(
    context: CheckContext, real_pytest: str
) -> None:
    verdict = await CommandGate(f"{real_pytest}; true").check(context)

    assert (verdict.status, verdict.score, ids(verdict)) == ("fail", 0.0, ["no-tests"])


async def test_tests_that_were_all_skipped_prove_nothing(context: CheckContext, real_pytest: str) -> None:
    write(context, "test_one.py", "import pytest\n\n@pytest.mark.skip\ndef test_later():\n    pass\n")

    verdict = await CommandGate(real_pytest).check(context)
    assert (verdict.status, verdict.score, ids(verdict)) == ("fail", 0.0, ["all-skipped"])
    assert (
        verdict.findings[0].message
        == "pytest skipped every test (1). Run them, or set allow_skipped = true on the gate."
    )
    assert (await CommandGate(real_pytest, allow_skipped=True).check(context)).status == "pass"


async def test_real_unittest(context: CheckContext, real_unittest: str) -> None:
    write(context, "test_shop.py", SHOP_TESTS)
    verdict = await CommandGate(real_unittest).check(context)

    assert (verdict.status, verdict.score) == ("fail", 0.25)
    assert sorted(ids(verdict)) == [
        "test_shop.Till.test_breaks",
        "test_shop.Till.test_parts (i=0)",
        "test_shop.Till.test_parts (i=2)",
        "test_shop.Till.test_sums",
    ]
    assert {finding.file for finding in verdict.findings} == {"test_shop.py"}


async def test_real_unittest_without_tests_is_a_failure(context: CheckContext, real_unittest: str) -> None:
    verdict = await CommandGate(real_unittest).check(context)

    assert (verdict.status, ids(verdict)) == ("fail", ["no-tests"])


# Stale bytecode

PRICE_TEST = """
import shop
import unittest

class Price(unittest.TestCase):
    def test_it(self):
        self.assertEqual(shop.PRICE, 7)
"""
MOMENT = (1_700_000_000, 1_700_000_000)


def set_price(context: CheckContext, price: int) -> None:
    """Make an edit that Python's bytecode cache can't see: same size, same second."""
    os.utime(write(context, "shop.py", f"PRICE = {price}\n"), MOMENT)


@pytest.mark.parametrize("runner", ["real_pytest", "real_unittest"])
async def test_an_edit_of_the_same_size_in_the_same_second_is_seen(
    context: CheckContext, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, runner: str
) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    write(context, "test_shop.py", PRICE_TEST)
    gate = CommandGate(request.getfixturevalue(runner))
    seen = []
    for _ in range(4):
        for price in (1, 7):
            set_price(context, price)
            seen.append((await gate.check(context)).status)

    assert seen == ["fail", "pass"] * 4
    assert not list(context.root.rglob("*.pyc"))


async def test_a_spec_may_ask_for_bytecode_and_pays_for_it(context: CheckContext) -> None:
    gate = CommandGate(
        f"'{sys.executable}' -c 'import shop; assert shop.PRICE == 7'", env={"PYTHONDONTWRITEBYTECODE": ""}
    )
    seen = []
    for price in (1, 7):
        set_price(context, price)
        seen.append((await gate.check(context)).status)

    assert seen == ["fail", "fail"]
