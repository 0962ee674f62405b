"""A Go package that only tests import belongs to the tests."""

from untilgreen.gates.integrity.protected.go_helpers import helpers_of_tests

FILES = ("go.mod", "calc.go", "calc_test.go", "check/check.go", "sum/sum.go", "tools/go.mod", "tools/in/a.go")
MODULES = {"go.mod": "module example.org/calc\n\ngo 1.20\n", "tools/go.mod": 'module "tools"\n'}


def test_only_what_tests_alone_import_is_theirs() -> None:
    imports = {
        "calc.go": ['import "example.org/calc/sum"'],
        "calc_test.go": ['\t"example.org/calc/check"', '\tlocal "example.org/calc/sum"', '\t"testing"'],
    }

    assert helpers_of_tests(FILES, MODULES, imports) == {"check/*.go"}


def test_a_helper_that_the_product_imports_too_does_not_belong_to_the_tests() -> None:
    imports = {
        "calc_test.go": ['"example.org/calc/check"'],
        "sum/sum.go": ['import "example.org/calc/check"'],
    }

    assert helpers_of_tests(FILES, MODULES, imports) == set()


def test_packages_of_a_nested_module_go_by_its_name() -> None:
    assert helpers_of_tests(FILES, MODULES, {"tools/a_test.go": ['"tools/in"']}) == {"tools/in/*.go"}
    assert helpers_of_tests(FILES, {}, {"calc_test.go": ['"example.org/calc/check"']}) == set()
