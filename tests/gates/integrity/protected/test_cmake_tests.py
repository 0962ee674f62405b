"""Which commands of a CMakeLists.txt are put back."""

import pytest

from untilgreen.gates.integrity.protected.cmake_tests import declares_tests, swap_cmake

OLD = """\
project(calc C)
add_library(calc calc.c)
enable_testing()
add_executable(calc_test test.c)
target_link_libraries(calc_test calc)
add_test(NAME adds COMMAND calc_test)
"""


@pytest.mark.parametrize(
    ("path", "declares"), [("CMakeLists.txt", True), ("lib/rules.cmake", True), ("a.c", False)]
)
def test_files_of_cmake_may_declare_tests(path: str, declares: bool) -> None:
    assert declares_tests(path) is declares


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("COMMAND calc_test", "COMMAND true"),
        ("calc_test test.c", "calc_test green.c"),
        ("calc_test calc)", "calc_test fake calc)"),
        ("add_test(NAME adds COMMAND calc_test)\n", ""),
        ("enable_testing()\n", ""),
        ("calc_test)\n", "calc_test)\nset_tests_properties(adds PROPERTIES WILL_FAIL TRUE)\n"),
        ("calc_test)\n", "calc_test)\nset_property(TEST adds PROPERTY DISABLED TRUE)\n"),
        ("add_test(NAME adds", "if(NEVER)\nendif()\nadd_test(NAME other"),
        ("enable_testing()\n", 'enable_testing()\nfile(WRITE "b/CTestCustom.cmake" "x")\n'),
        ("enable_testing()\n", "enable_testing()\nset(CTEST_CUSTOM_TESTS_IGNORE adds)\n"),
    ],
)
def test_what_weakens_an_old_test_is_undone_and_the_product_keeps_its_changes(was: str, becomes: str) -> None:
    new = OLD.replace(was, becomes).replace("calc calc.c", "calc calc.c sums.c")

    swapped = swap_cmake(OLD.encode(), new.encode())

    assert swapped is not None
    assert swapped.content is not None
    put_back = swapped.content.decode()
    assert "sums.c" in put_back
    assert swap_cmake(OLD.encode(), put_back.encode()) is None
    assert "WILL_FAIL" not in put_back
    assert "DISABLED" not in put_back


@pytest.mark.parametrize(
    "more",
    [
        "add_executable(more more.c)\nadd_test(NAME more COMMAND more)\n",
        "add_test(more more)\nset_tests_properties(more PROPERTIES TIMEOUT 5)\n",
        "add_subdirectory(more_tests)\n",
        "# add_test(NAME adds COMMAND true)\n",
        'message("add_test(NAME adds COMMAND true)")\n',
    ],
)
def test_new_tests_and_other_changes_are_the_agents_own(more: str) -> None:
    assert swap_cmake(OLD.encode(), (OLD + more).encode()) is None


@pytest.mark.parametrize(
    "new",
    [
        "function(add_test)\nendfunction()\n" + OLD,
        "macro(Add_Test)\nendmacro()\n" + OLD,
    ],
)
def test_a_file_that_redefines_the_commands_is_put_back_as_a_whole(new: str) -> None:
    swapped = swap_cmake(OLD.encode(), new.encode())

    assert swapped is not None
    assert swapped.content is None


def test_tests_in_a_block_that_went_are_put_back_with_the_whole_file() -> None:
    old = "if(TESTS)\n  add_test(NAME adds COMMAND true)\nendif()\n"

    swapped = swap_cmake(old.encode(), b"project(calc)\n")

    assert swapped is not None
    assert swapped.content is None


def test_a_new_file_can_not_change_the_tests_of_another() -> None:
    swapped = swap_cmake(None, b"set_tests_properties(adds PROPERTIES WILL_FAIL TRUE)\nset(X 1)\n")

    assert swapped is not None
    assert swapped.content is not None
    assert swapped.only_new
    assert b"WILL_FAIL" not in swapped.content
    assert b"set(X 1)" in swapped.content


def test_a_file_that_is_gone_matters_if_it_declared_tests() -> None:
    assert swap_cmake(OLD.encode(), None) is not None
    assert swap_cmake(b"project(calc)\n", None) is None


def test_a_command_that_never_closes_is_not_a_command() -> None:
    assert swap_cmake(b"add_test(", b"add_test(NAME x") is None
