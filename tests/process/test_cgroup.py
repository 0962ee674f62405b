"""A cgroup for one command, where the system allows it."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from untilgreen.process import cgroup
from untilgreen.process.tree import new_mark


@pytest.fixture
def made() -> Iterator[Path]:
    path = cgroup.make(new_mark())
    if path is None:
        pytest.skip("needs a writable cgroup v2 with cgroup.kill")
    yield path
    cgroup.kill(path)
    cgroup.remove(path)


def test_processes_that_joined_it_and_their_children_are_held_and_killed(made: Path) -> None:
    with subprocess.Popen(
        ["/bin/sh", "-c", "read -r go; setsid sleep 600 & sleep 600"], stdin=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert cgroup.join(made, process.pid)
        assert cgroup.members(made) == {process.pid}

        process.stdin.write(b"go\n")
        process.stdin.close()
        while len(cgroup.members(made)) < 3:
            assert process.poll() is None
        cgroup.kill(made)

        assert process.wait(60) == -9
    while cgroup.members(made):
        pass
    assert cgroup.remove(made)
    assert not made.exists()


def test_those_below_it_belong_to_it(made: Path) -> None:
    below = made / "inner" / "innermost"
    below.mkdir(parents=True)
    with subprocess.Popen(["sleep", "600"]) as process:
        assert cgroup.join(below, process.pid)
        assert cgroup.members(made) == {process.pid}

        assert not cgroup.remove(made)
        assert below.is_dir()

        cgroup.kill(made)
        assert process.wait(60) == -9
    cgroup.remove(made)
    assert not made.exists()


def test_a_process_that_is_gone_can_not_join(made: Path) -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()

    assert not cgroup.join(made, process.pid)


def test_the_same_name_twice_is_refused(made: Path) -> None:
    assert cgroup.make(made.name.removeprefix(cgroup.PREFIX)) is None


def test_one_that_is_not_there_is_empty_and_quiet(tmp_path: Path) -> None:
    missing = tmp_path / "missing"

    cgroup.kill(missing)

    assert cgroup.remove(missing)
    assert cgroup.members(missing) == set()
    assert not missing.exists()


@pytest.mark.parametrize(
    ("own", "above", "found"),
    [
        ("cpu memory pids", "", "own"),
        ("", "memory pids", "above"),
        ("memory", "pids", None),
        ("", "", None),
    ],
)
def test_limits_are_set_where_the_controllers_are_on(
    own: str, above: str, found: str | None, tmp_path: Path
) -> None:
    places = {"above": tmp_path, "own": tmp_path / "own"}
    for name, on in (("above", above), ("own", own)):
        places[name].mkdir(exist_ok=True)
        (places[name] / "cgroup.subtree_control").write_text(f"{on}\n")
        (places[name] / "cgroup.procs").touch()

    assert cgroup.limiting(places["own"]) == (places[found] if found else None)
    assert cgroup.limiting(None) is None


def test_where_no_limit_can_be_set_there_is_a_cgroup_all_the_same(made: Path) -> None:
    limited = cgroup.make(new_mark(), {"pids.max": 100, "memory.max": 10**9})
    assert limited is not None

    if cgroup.limiting(cgroup.home()) is None:
        assert limited.parent == made.parent
    else:
        assert (limited / "pids.max").read_text() == "100\n"
    cgroup.remove(limited)
