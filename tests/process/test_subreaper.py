"""Orphans are adopted only while a process tree runs."""

import subprocess
import sys

import pytest

from untilgreen.process.subreaper import adopted_none, adopting_orphans, childless, is_subreaper

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")

RUNAWAY = """
import os, signal, subprocess
from untilgreen.process.subreaper import adopted_none, adopting_orphans, childless

sleeper = subprocess.Popen(["sleep", "60"])
with adopting_orphans(sleeper.pid):
    print(adopted_none())
    shell = "setsid sleep 60 < /dev/null > /dev/null 2>&1 & echo $!"
    runaway = int(subprocess.run(["/bin/sh", "-c", shell], capture_output=True, check=True).stdout)
    print(adopted_none())
    os.kill(runaway, signal.SIGKILL)
    os.waitpid(runaway, 0)
    print(adopted_none())
sleeper.kill()
sleeper.wait()

with adopting_orphans(0):
    print(childless())
    shell = "setsid sleep 60 < /dev/null > /dev/null 2>&1 & echo $!"
    runaway = int(subprocess.run(["/bin/sh", "-c", shell], capture_output=True, check=True).stdout)
    print(childless())
    os.kill(runaway, signal.SIGKILL)
    os.waitpid(runaway, 0)
    print(childless())
"""


def test_orphans_are_adopted_as_long_as_one_tree_needs_it() -> None:
    first, second = adopting_orphans(1), adopting_orphans(2)
    seen = [is_subreaper()]
    for step in (first.__enter__, second.__enter__):
        step()
        seen.append(is_subreaper())
    for leave in (first.__exit__, second.__exit__):
        leave(None, None, None)
        seen.append(is_subreaper())

    assert seen == [False, True, True, True, False]


def test_an_inner_tree_that_ends_does_not_end_the_adoption_of_the_outer_one() -> None:
    with adopting_orphans(1):
        with adopting_orphans(2):
            pass
        assert is_subreaper()
    assert not is_subreaper()


ALREADY_SUBREAPER = """
import ctypes
from untilgreen.process.subreaper import adopting_orphans, is_subreaper

PR_SET_CHILD_SUBREAPER = 36
print(is_subreaper())
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
with adopting_orphans(1):
    print(is_subreaper())
print(is_subreaper())
"""


def test_a_process_that_was_a_subreaper_before_is_one_afterwards() -> None:
    seen = subprocess.run(
        [sys.executable, "-c", ALREADY_SUBREAPER], capture_output=True, check=True, text=True
    )

    assert seen.stdout.split() == ["False", "True", "True"]


def test_a_process_whose_grandchild_ran_away_has_adopted_it_and_is_not_childless() -> None:
    seen = subprocess.run([sys.executable, "-c", RUNAWAY], capture_output=True, check=True, text=True)

    assert seen.stdout.split() == ["True", "False", "True"] * 2


STARTING = """
import subprocess, threading
from untilgreen.process.subreaper import about_to_run, adopted_none, adopting_orphans, never_ran

def ran_away():
    shell = "setsid sleep 60 < /dev/null > /dev/null 2>&1 & echo $!"
    made.append(int(subprocess.run(["/bin/sh", "-c", shell], capture_output=True, check=True).stdout))

made = []
first, next = (subprocess.Popen(["sleep", "60"]) for _ in range(2))
with adopting_orphans(first.pid):
    print(adopted_none())
    about_to_run(next.pid)
    print(adopted_none())
    never_ran(next.pid)
    print(adopted_none())
    about_to_run(next.pid)
    other = threading.Thread(target=ran_away)
    other.start()
    other.join()
    print(adopted_none())
for pid in (first.pid, next.pid, *made):
    subprocess.run(["kill", "-9", str(pid)], check=True)
"""


def test_a_child_that_is_being_started_is_not_an_orphan_but_one_that_another_thread_lost_is() -> None:
    seen = subprocess.run([sys.executable, "-c", STARTING], capture_output=True, check=True, text=True)

    assert seen.stdout.split() == ["False", "True", "False", "False"]


def test_nobody_is_known_to_be_childless_while_orphans_go_elsewhere() -> None:
    assert not childless()
    assert not adopted_none()
