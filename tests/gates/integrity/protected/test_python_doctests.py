"""Examples in docstrings are put back, and the code around them stays as it is."""

import pytest

from untilgreen.gates.integrity.protected.python_doctests import is_example, swap_docstrings

MODULE = '''\
"""Sums.

>>> 1 + 1
2
"""

class Till:
    """No example."""

    def add(self, a, b):
        """Add.

        >>> Till().add(1, 2)
        3
        """
        return a - b
'''
"""A module with an example in its own docstring, and one in a method's."""


def swapped(old: str, new: str) -> tuple[tuple[str, ...], str | None] | None:
    found = swap_docstrings(old.encode(), new.encode())
    if found is None:
        return None
    return found.keys, None if found.content is None else found.content.decode()


def test_a_fix_of_the_code_is_not_a_change_of_its_examples() -> None:
    assert swapped(MODULE, MODULE.replace("a - b", "a + b")) is None


def test_changed_examples_are_put_back_into_the_new_code() -> None:
    new = MODULE.replace("a - b", "a * b").replace("        3\n", "        2\n").replace("Sums.", "Some.")

    assert swapped(MODULE, new) == (
        ("the examples of the module", "the examples of Till.add"),
        MODULE.replace("a - b", "a * b"),
    )


def test_multi_byte_characters_do_not_shift_what_is_put_back() -> None:
    old = 'ä = "ö"; é = 1\ndef f():\n    """ü >>> f()"""\n'

    assert swapped(old, old.replace("ü", "üü")) == (("the examples of f",), old)


@pytest.mark.parametrize(
    "new", [MODULE.replace("def add", "def sum"), MODULE.replace(">>> Till", "Till"), "def ("]
)
def test_a_file_whose_examples_are_gone_is_put_back_as_a_whole(new: str) -> None:
    found = swapped(MODULE, new)

    assert found is not None
    assert found[1] is None


def test_a_new_or_removed_file_has_no_examples_to_put_back() -> None:
    assert swap_docstrings(None, MODULE.encode()) is None
    assert swap_docstrings(MODULE.encode(), None) is None


@pytest.mark.parametrize(
    "test",
    ["shop.till.Till.add", "src/shop/till.py::shop.till.Till.add", "shop.till", "src/shop/till.py::till"],
)
def test_an_example_is_known_by_what_it_documents(test: str) -> None:
    assert is_example("src/shop/till.py", MODULE, test)


@pytest.mark.parametrize("test", ["shop.till.Till.test_add", "src/shop/till.py::test_add", "other.till.x"])
def test_another_test_is_not_an_example(test: str) -> None:
    assert not is_example("src/shop/till.py", MODULE, test)


def test_only_python_with_a_prompt_has_examples() -> None:
    assert not is_example("src/shop/till.rst", MODULE, "shop.till")
    assert not is_example("src/shop/till.py", MODULE.replace(">>>", ""), "shop.till")
