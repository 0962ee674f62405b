"""Copies: what they contain, how they are cleaned up, and gates that don't work in one."""

import os
import py_compile
import shutil
import sys
from pathlib import Path

import anyio
import psutil
import pytest
from msgspec.structs import replace

from tests.gates.integrity.helpers import Project, gate, git, ids, said, write
from untilgreen.core.values.model import Verdict
from untilgreen.ports import CheckContext, Sandbox

UNITTESTS = """\
import unittest

from calc import add


class Adding(unittest.TestCase):
    def test_zero(self):
        self.assertEqual(add(1, 0), 1)

    def test_two_numbers(self):
        self.assertEqual(add(1, 2), 3)
"""
BROKEN = "def add(a, b):\n    return a - b\n"
SKIPPED = UNITTESTS.replace("    def test_two", "    @unittest.skip('later')\n    def test_two")


@pytest.fixture
def project(tmp_path: Path, real_unittest: str) -> Project:
    return Project(tmp_path / "project", tmp_path / "private", (gate(f"{real_unittest} -q"),))


START: dict[str, str | None] = {"calc.py": BROKEN, "test_calc.py": UNITTESTS}


async def test_unittest_is_watched_as_well(project: Project) -> None:
    await project.begin(START)

    verdict = await project.after({"test_calc.py": SKIPPED})

    assert verdict.status == "fail"
    assert ids(verdict)[0] == "changed: test_calc.py"
    assert any("test_two_numbers" in each for each in ids(verdict)[1:])
    assert "skipped: `@unittest.skip('later')`" in said(verdict, "test_calc.py")


async def test_a_script_that_a_gate_runs_is_protected(project: Project) -> None:
    project.gates = (gate("./run_tests.sh"), gate("sh ci/all.sh", name="all"))
    honest = f"#!/bin/sh\nexec {sys.executable} -m unittest -q\n"
    await project.begin(
        {**START, "run_tests.sh": honest, "ci/all.sh": "./ci/real.sh\n", "ci/real.sh": honest}
    )

    verdict = await project.after(
        {"run_tests.sh": "#!/bin/sh\nexit 0\n", "ci/real.sh": "#!/bin/sh\necho 0\n"}
    )

    assert verdict.status == "fail"
    assert [each for each in ids(verdict) if each.startswith("changed")] == [
        "changed: ci/real.sh",
        "changed: run_tests.sh",
    ]
    assert "ends the process itself: `exit 0`" in said(verdict, "run_tests.sh")


async def test_a_makefile_is_protected_where_make_is_a_gate(project: Project) -> None:
    project.gates = (gate("make -s test"),)
    await project.begin({**START, "Makefile": f"test:\n\t{sys.executable} -m unittest -q\n"})

    verdict = await project.after({"Makefile": "test:\n\t@true\n"})

    assert (verdict.status, ids(verdict)[0]) == ("fail", "changed: Makefile")


async def test_a_gate_that_needs_its_own_directory_is_an_error(project: Project) -> None:
    project.at_home = False
    project.gates = (*project.gates, gate("git rev-parse --verify HEAD || test -d .git", name="git"))
    await project.begin(START)

    verdict = await project.after({"test_calc.py": SKIPPED})

    assert verdict.status == "fail", "the tests work in a copy, and they are red there"

    project.gates = project.gates[1:]
    verdict = await project.after({})

    assert verdict.status == "error"
    assert ids(verdict) == ["does-not-work-in-a-copy: git", "changed: test_calc.py"]
    assert "even with nothing put back" in verdict.findings[0].message


async def test_gates_in_containers_run_again_in_a_copy_in_another_directory(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await project.begin(START)
    engine, asked = tmp_path / "programs" / "podman", tmp_path / "asked"
    engine.parent.mkdir()
    engine.write_text(f"#!/bin/sh\ntest $1 = rm || echo $* | sed 's/.*--workdir //' >> {asked}\n")
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", f"{engine.parent}:{os.environ['PATH']}")
    write(project.root, {"test_calc.py": SKIPPED})
    workspace = project.workspace()
    context = project.context(await workspace.snapshot("1"))
    await project.gate(workspace).check(replace(context, sandbox=Sandbox(engine="podman", image="mine")))

    lines = asked.read_text().splitlines()
    assert lines
    assert all(line.startswith(f"{project.scratch}/") for line in lines)


async def test_added_tests_alone_never_ask_anybody(project: Project) -> None:
    project.at_home = False
    project.gates = (gate("test -d .git"),)
    await project.begin(START)

    assert (await project.after({"test_more.py": UNITTESTS})).status == "pass"


@pytest.mark.parametrize("at_home", [True, False])
async def test_ignored_files_are_shown_or_copied(project: Project, at_home: bool) -> None:
    project.at_home = at_home
    project.gates = (*project.gates, gate("test -f node_modules/a/index.js && test -f .env", name="parts"))
    await project.begin({**START, ".gitignore": "node_modules\n.env\n", "calc.py": BROKEN.replace("-", "+")})
    write(project.root, {"node_modules/a/index.js": "1\n", ".env": "A=1\n"})

    verdict = await project.after({"test_calc.py": SKIPPED})

    assert (verdict.status, verdict.findings) == ("pass", ())
    assert (project.root / "node_modules/a/index.js").exists()


@pytest.mark.parametrize("place", ["__pycache__", "."])
async def test_bytecode_that_the_agent_left_does_not_stand_in_for_an_original(
    project: Project, place: str
) -> None:
    """Python loads such a file without checking the source next to it."""
    await project.begin({**START, ".gitignore": "__pycache__/\n*.pyc\n"})
    source = project.root / "test_calc.py"
    source.write_text(SKIPPED)
    name = f"test_calc.{sys.implementation.cache_tag}.pyc" if place == "__pycache__" else "test_calc.pyc"
    py_compile.compile(
        str(source),
        cfile=str(project.root / place / name),
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )

    assert (await project.after({})).status == "fail"


async def test_submodules_and_repositories_inside_are_linked_in(project: Project, tmp_path: Path) -> None:
    project.gates = (*project.gates, gate("test -f inner/a.txt", name="inner"))
    await project.begin({**START, "calc.py": BROKEN.replace("-", "+")})
    (project.root / "inner").mkdir()
    git(project.root / "inner", "init", "--quiet")
    write(project.root, {"inner/a.txt": "1\n"})

    assert (await project.after({"test_calc.py": SKIPPED})).status == "pass"


@pytest.mark.parametrize("at_home", [True, False], ids=["at its own path", "elsewhere"])
async def test_a_command_that_names_the_workspace_runs_in_the_copy(project: Project, at_home: bool) -> None:
    project.at_home = at_home
    project.gates = (gate(f"cd {project.root} && {sys.executable} -m unittest -q"),)
    await project.begin(START)

    assert (await project.after({"test_calc.py": SKIPPED})).status == "fail"


async def test_paths_of_the_workspace_in_the_environment_are_those_of_the_copy(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{project.root}/lib")
    monkeypatch.setenv("PATH", f"{project.root}/bin{os.pathsep}{os.environ['PATH']}")
    project.at_home = False
    same = 'test "$PYTHONPATH" = "$PWD/lib" && test "${PATH%%:*}" = "$PWD/bin"'
    project.gates = (*project.gates, gate(same, name="paths"))
    await project.begin({**START, "calc.py": BROKEN.replace("-", "+")})

    assert (await project.after({"test_calc.py": SKIPPED})).status == "pass"


async def test_a_run_in_a_part_of_the_repository_has_its_gates_there(project: Project) -> None:
    project.start = project.root / "part"
    await project.begin({f"part/{name}": text for name, text in START.items()} | {"other/a.txt": "1\n"})

    verdict = await project.after({"part/test_calc.py": SKIPPED})

    assert ids(verdict)[0] == "changed: part/test_calc.py"
    assert (await project.after({}, "test_calc.py")).status == "pass"


async def test_a_run_without_a_baseline_compares_with_what_its_first_turn_began_with(
    project: Project,
) -> None:
    await project.begin(START)
    project.base = ""

    assert (await project.after({"test_calc.py": SKIPPED})).status == "error"

    write(project.root, {"test_calc.py": UNITTESTS})
    await project.workspace().snapshot("1-base")
    assert (await project.after({"test_calc.py": SKIPPED})).status == "fail"


async def test_all_that_the_gates_printed_is_kept(project: Project) -> None:
    await project.begin(START)

    await project.after({"test_calc.py": SKIPPED})

    text = project.output.read_text()
    assert "== tests, with the originals: fail" in text
    assert "== tests, as it is: pass" in text
    assert "AssertionError: -1 != 3" in text


async def test_the_clean_room_comes_before_the_originals(project: Project) -> None:
    await project.begin(START)
    write(project.root, {"test_calc.py": SKIPPED})
    workspace = project.workspace()
    context = project.context(await workspace.snapshot("1"))

    await replace(project.gate(workspace), clean_room=True).check(context)

    text = project.output.read_text()
    assert text.index("== tests, in the clean room: pass") < text.index("== tests, with the originals: fail")


async def test_gates_that_take_a_minute_are_not_tried_before_the_first_lap(project: Project) -> None:
    await project.begin(START)
    workspace = project.workspace()
    slow = {"tests": Verdict(status="fail", duration=60.0)}
    context = replace(project.context(project.base), lap=0, baseline=slow)

    verdict = await replace(project.gate(workspace), clean_room=True).check(context)

    assert verdict.excerpt == "The clean room is tried with the first green lap."
    assert not project.output.exists()


async def test_a_cancelled_check_leaves_neither_processes_nor_copies(project: Project) -> None:
    noted = project.private / "pid"
    project.gates = (gate(f"echo $$ > {noted}; exec sleep 300"),)
    await project.begin(START)
    write(project.root, {"test_calc.py": SKIPPED})
    workspace = project.workspace()
    context = CheckContext(
        root=project.root, lap=1, snapshot=await workspace.snapshot("1"), base=project.base
    )

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(project.gate(workspace).check, context)
            while not (noted.exists() and noted.read_text().strip()):  # noqa: ASYNC110 - written by a process
                await anyio.sleep(0.02)
            group.cancel_scope.cancel()

    assert not psutil.pid_exists(int(noted.read_text()))
    assert not project.scratch.exists()


async def test_a_gate_has_its_own_time_in_a_copy(project: Project) -> None:
    project.gates = (gate("grep -q skip test_calc.py || exec sleep 300", timeout=3.0),)
    await project.begin(START)

    with anyio.fail_after(90):
        verdict = await project.after({"test_calc.py": SKIPPED})

    assert (verdict.status, ids(verdict)) == ("fail", ["changed: test_calc.py", "original tests: timeout"])


async def test_a_gate_that_needs_a_second_try_gets_it(project: Project) -> None:
    flag = project.private / "tried"
    project.gates = (gate(f"test -f {flag} || {{ touch {flag}; false; }}", retries=1),)
    await project.begin(START)
    flag.touch()
    write(project.root, {"test_calc.py": SKIPPED})
    workspace = project.workspace()
    context = CheckContext(root=project.root, snapshot=await workspace.snapshot("1"), base=project.base)
    flag.unlink()

    assert (await project.gate(workspace).check(context)).status == "pass"


async def test_the_workspace_is_left_as_it_was(project: Project) -> None:
    await project.begin(START)
    write(project.root, {"test_calc.py": SKIPPED, "empty/kept.txt": "1\n"})
    before = {path: path.stat().st_mtime_ns for path in project.root.rglob("*") if ".git" not in path.parts}

    await project.after({})

    after = {path: path.stat().st_mtime_ns for path in project.root.rglob("*") if ".git" not in path.parts}
    assert after == before


async def test_what_a_killed_driver_left_is_removed(project: Project) -> None:
    await project.begin(START)
    write(project.scratch, {"originals/old.txt": "1\n"})
    (project.scratch / "originals").chmod(0o500)

    assert (await project.after({"test_calc.py": SKIPPED})).status == "fail"


async def test_gates_that_cost_people_or_money_are_not_repeated(project: Project) -> None:
    asked = tuple(gate("exit 1", name=kind, kind=kind) for kind in ("claim", "judge", "ci", "approval"))
    await project.begin({**START, "calc.py": BROKEN.replace("-", "+")})
    write(project.root, {"test_calc.py": SKIPPED})
    workspace = project.workspace()
    context = CheckContext(root=project.root, snapshot=await workspace.snapshot("1"), base=project.base)
    checks = replace(project.gate(workspace), gates=(*project.gates, *asked, gate("exit 1", required=False)))

    assert (await checks.check(context)).status == "pass"


async def test_an_original_is_put_back_where_something_else_is_now(project: Project) -> None:
    project.gates = (gate(f"{sys.executable} -m unittest discover -q -s tests -t ."),)
    await project.begin({"calc.py": BROKEN, "tests/test_calc.py": UNITTESTS, "tests/__init__.py": ""})
    shutil.rmtree(project.root / "tests")
    write(project.root, {"easy/test_calc.py": SKIPPED, "easy/__init__.py": ""})
    (project.root / "tests").symlink_to("easy")

    verdict = await project.after({})

    assert verdict.status == "fail"
    assert "changed: tests/test_calc.py" in ids(verdict)


async def test_paths_of_the_copy_are_not_shown(project: Project) -> None:
    await project.begin(START)

    verdict = await project.after({"test_calc.py": SKIPPED})

    assert 'File "test_calc.py"' in verdict.excerpt
    assert str(project.private) not in verdict.excerpt


@pytest.mark.parametrize(
    ("name", "text", "leads"),
    [
        ("lib.rs", "#[cfg(test)]\nmod tests {\n}\n", "$(echo planted)"),
        ("pyproject.toml", "[tool.pytest]\nstrict = true\n", "#"),
        ("setup.cfg", "[tool:pytest]\naddopts = --strict\n", "#"),
    ],
)
async def test_a_link_in_place_of_a_file_that_is_put_back_in_part_leads_nowhere(
    project: Project, tmp_path: Path, name: str, text: str, leads: str
) -> None:
    """We put files back outside any sandbox, so a link of the agent's must not be followed."""
    theirs = tmp_path / "profile"
    theirs.write_text("of the user\n")
    project.gates = (gate("true"),)
    await project.begin({name: text})
    write(project.root, {f"{leads}/x": "", name: None})
    (project.root / name).symlink_to(f"{leads}/../../../../profile")

    await project.after({})

    assert theirs.read_text() == "of the user\n"


@pytest.mark.parametrize("at_home", [True, False], ids=["at its own path", "elsewhere"])
async def test_a_link_that_became_a_directory_while_gates_ran_leads_nowhere_either(
    project: Project, tmp_path: Path, at_home: bool
) -> None:
    """The copy has the link from the snapshot, and the workspace now has ignored files to copy below it."""
    project.at_home = at_home
    theirs = tmp_path / "home"
    theirs.mkdir()
    switch = "if test -L d; then rm d; mkdir d; touch d/.profile d/other; fi"
    project.gates = (gate(f"{switch}; grep -q weak test_it.sh"),)
    await project.begin({"test_it.sh": "strict\n", ".gitignore": ".profile\n"})
    (project.root / "d").symlink_to(theirs)

    verdict = await project.after({"test_it.sh": "weak\n"})

    assert verdict.status == "fail"
    assert (project.root / "d" / ".profile").exists()
    assert list(theirs.iterdir()) == []
