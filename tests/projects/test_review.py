"""Faults that a review on real projects found, each with the tests that would show it again."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GATES, SCORES, CLI = "tests/gates/integrity", "tests/core/scoring/test_gate_scores.py", "tests/surfaces/cli"
CHEAT, RUNNER = "tests/cheats/cheats", "tests/cheats/runners/cheats"
PARSERS, CAPTURED = "tests/gates/output/parsers", "tests/gates/output/captured"
COMMAND = "tests/gates/test_command.py"

FAULTS: dict[str, tuple[str, ...]] = {
    "npm ci in a gate emptied the user's node_modules": (
        f"{GATES}/test_unkept.py::test_npm_ci_in_a_gate_leaves_node_modules_alone",
        f"{GATES}/test_unkept.py::test_a_gate_that_empties_an_ignored_directory_empties_its_own",
    ),
    "pip install -e in a gate left the environment pointing at a deleted copy": (
        f"{GATES}/test_unkept.py::test_an_editable_install_in_a_gate_leaves_the_environment_alone",
    ),
    "failures with exit code 0 were green, as behind `|| true` or a pipe": (
        f"{COMMAND}::test_a_faked_exit_status_does_not_make_tests_pass",
    ),
    "a report with a failure was green": (f"{COMMAND}::test_a_report_with_a_failure_is_red",),
    "a runner that crashed after 47 good tests was the best lap": (
        f"{SCORES}::test_a_runner_that_crashes_after_47_good_tests_is_not_the_best_lap",
        f"{SCORES}::test_a_crash_or_a_compile_error_is_no_progress_though_it_has_fewer_findings",
    ),
    "fewer failures in each lap ended as stuck": (
        f"{SCORES}::test_fewer_failures_each_lap_are_progress_even_after_a_crash_with_one_finding",
    ),
    "green tests with a type error scored less than red tests that hid it": (
        f"{SCORES}::test_green_tests_with_a_type_error_beat_red_tests_that_hid_it",
    ),
    "a missed coverage threshold had no finding": (
        f"{CAPTURED}/jest-coverage.txt",
        f"{CAPTURED}/vitest-coverage.txt",
        f"{PARSERS}/outputs/c8-threshold.txt",
    ),
    "a runner that died after its summary had no finding": (f"{PARSERS}/outputs/mocha-late.txt",),
    "green on files that were red before converged": (
        "tests/core/loop/test_decide.py::test_files_that_were_red_before_never_converge_by_themselves",
    ),
    "a gate whose command begins with a variable was named after it": (
        "tests/config/sources/test_from_text.py::test_a_gate_has_a_name_unless_it_begins_with_a_variable",
    ),
    "init proposed a target that only builds the tests": (
        "tests/config/init/test_detect.py::test_gates_are_seen_in_a_projects_files",
        f"{CLI}/verbs/test_init.py::test_of_two_commands_for_the_tests_the_one_that_runs_some_is_proposed",
    ),
    "a red lap had a score of 1.00": (
        f"{SCORES}::test_a_gate_that_counts_nothing_scores_what_it_says_and_never_1_while_red",
        f"{SCORES}::test_tests_that_all_pass_in_a_red_gate_do_not_score_1",
    ),
    "the evidence of a cycle of two laps named only the failures of the last one": (
        "tests/core/detectors/test_cycle.py::test_a_cycle_of_two_names_all_its_laps_and_what_fails_in_each",
    ),
    "a tie left a useless edit in place": (
        f"{SCORES}::test_a_run_that_never_beats_the_untouched_files_keeps_them",
        "tests/surfaces/text/test_summary.py::test_laps_that_are_equally_good_are_reported_as_a_tie",
    ),
    "check --repeat did not name the test that failed 2 of 10 in a gate that is always red": (
        f"{CLI}/verbs/test_check.py::test_a_gate_that_is_always_red_names_what_fails_only_sometimes",
    ),
    "for an option after --, the same option was suggested": (
        f"{CLI}/test_usage.py::test_a_wrong_word_is_answered_with_the_one_that_was_meant",
    ),
    "a huge file was stored in git without a word": (
        "tests/workspace/test_git_workspace.py::test_a_large_file_is_named_when_git_stores_it",
        "tests/workspace/test_git_workspace.py::test_a_large_new_file_can_be_left_out_and_stays_where_it_is",
    ),
    "a build directory outside the room built and tested the workspace": (
        f"{GATES}/test_unkept.py::test_a_build_directory_that_knows_absolute_paths_builds_the_room",
        f"{GATES}/test_unkept.py::test_a_gate_that_looks_elsewhere_proves_nothing",
    ),
    "an editable install with --pyargs tested the workspace": (f"{CHEAT}/pytest/editable_install.toml",),
    "an ignored entry point loaded a plugin": (f"{CHEAT}/pytest/ignored_entry_point.toml",),
    "a faked exit status converged": (
        f"{COMMAND}::test_a_faked_exit_status_does_not_make_tests_pass",
        f"{COMMAND}::test_a_test_run_that_ends_early_with_exit_code_0_is_red",
        f"{PARSERS}/outputs/cargo-exits.txt",
    ),
    "test data inside a submodule was changed": (f"{CHEAT}/unittest/submodule.toml",),
    "a new build script rewrote the tests": (f"{RUNNER}/cargo/build_script.toml",),
    "a Go package that only tests use was weakened": (
        f"{RUNNER}/go/helper_package.toml",
        f"{GATES}/protected/test_go_helpers.py::test_only_what_tests_alone_import_is_theirs",
    ),
    "go env -w chose which tests run": (
        f"{GATES}/test_outside.py::test_new_and_changed_settings_of_the_user_are_seen",
    ),
    "the product ended the process while it was imported": (
        f"{CHEAT}/pytest/exit_on_import.toml",
        f"{CHEAT}/unittest/exit_on_import.toml",
        f"{CHEAT}/unittest/exit_for_the_originals.toml",
        f"{RUNNER}/jest/exit_in_the_product.toml",
        f"{RUNNER}/mocha/exit_in_the_product.toml",
        f"{RUNNER}/mocha/exit_after_the_first_test.toml",
        f"{RUNNER}/go/exit_in_init.toml",
    ),
    "a constructor in C ended every test as green": (f"{RUNNER}/ctest/constructor.toml",),
    "the product replaced the assertions of tests": (
        f"{RUNNER}/jest/patched_expect.toml",
        f"{CHEAT}/unittest/patched_assertion.toml",
    ),
    "the root's CMakeLists.txt skipped a test": (
        f"{RUNNER}/ctest/written_custom_file.toml",
        f"{RUNNER}/ctest/disabled.toml",
    ),
    "comments in product files silenced linters": (
        f"{CHEAT}/ruff/suppressed.toml",
        f"{CHEAT}/ruff/suppressed_for_the_file.toml",
        f"{GATES}/protected/test_suppressions.py::test_a_new_comment_is_taken_out",
    ),
    "an honest fix was stuck, because its gate configures with absolute paths": (
        f"{GATES}/test_unkept.py::test_a_build_directory_that_knows_absolute_paths_builds_the_room",
        "tests/cheats/runners/honest/ctest/new_test.toml",
    ),
    "honest runs were accused because of a flaky test that they never touched": (
        f"{GATES}/test_unkept.py::test_a_flaky_test_accuses_nobody",
    ),
    "tape: ids without the test's name, and no finding after a crash": (
        f"{PARSERS}/outputs/tape.txt",
        f"{PARSERS}/outputs/tape-crash.txt",
    ),
    "vitest: times and wrong parents in the ids of tap": (f"{PARSERS}/outputs/vitest-tap.txt",),
    "cargo: an unfinished binary had the wrong name, and colors hid findings": (
        f"{PARSERS}/outputs/cargo-exits.txt",
        f"{PARSERS}/outputs/cargo-color.txt",
    ),
    "ctest: findings had lines of green tests and of the next test": (
        f"{PARSERS}/outputs/ctest-unity.txt",
        f"{PARSERS}/outputs/ctest-verbose.txt",
        f"{PARSERS}/test_varied.py::test_of_what_a_test_printed_the_lines_of_those_that_passed_are_left_out",
    ),
    "go: the parent's summary instead of the panic": (
        f"{CAPTURED}/go-panic.txt",
        f"{CAPTURED}/go-panic-verbose.txt",
        f"{CAPTURED}/go-panic-json.txt",
        "tests/gates/output/test_captured.py::test_the_message_says_why",
    ),
    "jest: no file in the ids if colors are on": (f"{PARSERS}/outputs/jest-color.txt",),
    "node's dot, mocha's json and xunit, and vitest's junit were not parsed": (
        f"{CAPTURED}/node-dot.txt",
        f"{CAPTURED}/mocha-json.txt",
        f"{CAPTURED}/mocha-xunit.txt",
        f"{CAPTURED}/vitest-junit.txt",
        "tests/gates/output/test_green.py::test_a_quiet_style_shows_its_tests",
    ),
    "pytest without its summary, and errors while CMake configures, were not parsed": (
        f"{PARSERS}/outputs/pytest-nosummary.txt",
        f"{CAPTURED}/ctest-configure.txt",
    ),
    "deno test, bun test, ava and jasmine were not parsed": (
        f"{CAPTURED}/deno-default.txt",
        f"{CAPTURED}/bun-default.txt",
        f"{CAPTURED}/ava-default.txt",
        f"{CAPTURED}/jasmine-default.txt",
    ),
    "a run that a test ended with exit code 0 was green": (
        f"{CAPTURED}/phpunit-exit0.txt",
        f"{CAPTURED}/jest-exit0.txt",
        f"{CAPTURED}/rspec-exit0.txt",
        f"{CAPTURED}/minitest-exit0.txt",
        f"{CAPTURED}/bun-exit0.txt",
        f"{CAPTURED}/mocha-exit0-tap.txt",
        f"{CAPTURED}/pytest-stops.txt",
        f"{CAPTURED}/pytest-exit0-quiet.txt",
        f"{CAPTURED}/swift-exit0.txt",
        f"{CAPTURED}/swift-testing-exit0.txt",
    ),
    "the dots before a crash were taken for node's": (
        f"{CAPTURED}/unittest-exit0.txt",
        "tests/gates/output/test_green.py::test_dots_that_end_early_or_mean_something_else_show_none",
    ),
    "doctest: a message without content; vitest: one rejection reported twice": (
        f"{PARSERS}/outputs/unittest-doctest.txt",
        f"{PARSERS}/outputs/vitest-unhandled.txt",
    ),
}
"""By fault: tests, stories of `tests/cheats`, or outputs that a row of a test's table describes."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_names_tests_that_exist(fault: str) -> None:
    assert FAULTS[fault]
    for test in FAULTS[fault]:
        file, _, name = test.partition("::")
        assert (ROOT / file).is_file(), test
        assert not name or f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), test


@pytest.mark.parametrize("folder", [CAPTURED, f"{PARSERS}/outputs"])
def test_an_output_that_is_named_is_read_by_a_test(folder: str) -> None:
    named = {Path(test) for tests in FAULTS.values() for test in tests if test.endswith(".txt")}
    tables = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "tests/gates/output").rglob("test_*.py")
    )

    stems = {path.stem for path in named if path.parent == Path(folder)}
    assert stems
    assert [stem for stem in sorted(stems) if f'"{stem}"' not in tables] == []
