"""Adopting orphans: only while somebody needs it."""

import sys

import pytest

from untilgreen.process.adoption import housed, is_subreaper

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")


def test_orphans_are_adopted_as_long_as_one_tree_needs_it() -> None:
    first, second = housed(orphans=True), housed(orphans=True)
    seen = [is_subreaper()]
    for step in (first.__enter__, second.__enter__):
        step()
        seen.append(is_subreaper())
    for leave in (first.__exit__, second.__exit__):
        leave(None, None, None)
        seen.append(is_subreaper())

    assert seen == [False, True, True, True, False]


def test_a_tree_with_a_cgroup_asks_for_no_adoption() -> None:
    with housed(orphans=False):
        assert not is_subreaper()


def test_a_process_that_adopts_anyway_goes_on_with_it() -> None:
    with housed(orphans=True):
        with housed(orphans=True):
            pass
        assert is_subreaper()
    assert not is_subreaper()
