"""Adopting orphans: only while somebody needs it."""

import subprocess
import sys

import pytest

from untilgreen.process.adoption import childless, housed, is_subreaper

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")

RUNAWAY = """
import os, signal, subprocess
from untilgreen.process.adoption import childless, housed

with housed():
    print(childless())
    shell = "setsid sleep 60 < /dev/null > /dev/null 2>&1 & echo $!"
    runaway = int(subprocess.run(["/bin/sh", "-c", shell], capture_output=True, check=True).stdout)
    print(childless())
    os.kill(runaway, signal.SIGKILL)
    os.waitpid(runaway, 0)
    print(childless())
"""


def test_orphans_are_adopted_as_long_as_one_tree_needs_it() -> None:
    first, second = housed(), housed()
    seen = [is_subreaper()]
    for step in (first.__enter__, second.__enter__):
        step()
        seen.append(is_subreaper())
    for leave in (first.__exit__, second.__exit__):
        leave(None, None, None)
        seen.append(is_subreaper())

    assert seen == [False, True, True, True, False]


def test_a_process_that_adopts_anyway_goes_on_with_it() -> None:
    with housed():
        with housed():
            pass
        assert is_subreaper()
    assert not is_subreaper()


def test_a_process_whose_grandchild_ran_away_is_not_childless() -> None:
    seen = subprocess.run([sys.executable, "-c", RUNAWAY], capture_output=True, check=True, text=True)

    assert seen.stdout.split() == ["True", "False", "True"]


def test_nobody_is_known_to_be_childless_while_orphans_go_elsewhere() -> None:
    assert not childless()
