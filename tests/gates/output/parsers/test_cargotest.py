"""cargo test: targets, failures, counts."""

from untilgreen.gates.output.recognize import recognize
from untilgreen.gates.output.tool_result import ToolResult

RED = """\
   Compiling shop v0.1.0 (/home/me/shop)
    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.5{time}s
     Running unittests src/lib.rs (target/debug/deps/shop-a35a48c092d3f767)

running 3 tests
test till::opens ... ok
test till::rings ... ignored
test till::sums ... FAILED

failures:

---- till::sums stdout ----

thread 'till::sums' ({thread}) panicked at src/lib.rs:{line}:64:
assertion `left == right` failed
  left: 2
 right: 3
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace


failures:
    till::sums

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.0{time}s

error: test failed, to rerun pass `--lib`
   Doc-tests shop

running 1 test
test src/lib.rs - sum (line {line}) ... FAILED

failures:

---- src/lib.rs - sum (line {line}) stdout ----
Test executable failed (exit status: 101).

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.6{time}s
"""
DEAD = """\
     Running tests/it.rs (target/debug/deps/it-f79ac83c53990106)

running 1 test
error: test failed, to rerun pass `--test it`

Caused by:
  process didn't exit successfully: `/home/me/it-f79ac83c53990106` (signal: 6, SIGABRT: process abort signal)
"""


def read(text: str) -> ToolResult:
    seen = recognize(text)
    assert seen is not None
    assert seen.tool == "cargo-test"
    return seen


def test_failures_have_their_target_and_what_panicked() -> None:
    seen = read(RED.format(line=5, thread=4, time=1))

    assert [(each.id, each.message.partition("\n")[0], each.file, each.line) for each in seen.findings] == [
        ("src/lib.rs: till::sums", "assertion `left == right` failed", "src/lib.rs", 5),
        ("Doc-tests shop: src/lib.rs - sum", "Test executable failed (exit status: 101).", None, None),
    ]
    assert (seen.passed, seen.failed, seen.skipped, seen.total) == (1, 2, 1, 4)


def test_lines_threads_and_times_change_no_id() -> None:
    assert [each.id for each in read(RED.format(line=5, thread=4, time=1)).findings] == [
        each.id for each in read(RED.format(line=77, thread=99, time=3)).findings
    ]


def test_tests_that_died_on_the_way_are_a_failure() -> None:
    seen = read(DEAD)

    assert [each.id for each in seen.findings] == ["tests/it.rs: did not finish"]
    assert seen.findings[0].message == "(signal: 6, SIGABRT: process abort signal)"
    assert seen.score == 0.0


def test_compile_errors_are_findings_with_their_places() -> None:
    text = "   Compiling shop v0.1.0\nerror[E0425]: cannot find value `x`\n --> src/lib.rs:3:5\n"
    seen = recognize(text)

    assert seen is not None
    assert [(each.id, each.line) for each in seen.findings] == [
        ("src/lib.rs: E0425 cannot find value `x`", 3)
    ]
