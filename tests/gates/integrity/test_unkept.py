"""Files that no snapshot contains: gates that run in a room don't change them in the workspace."""

import hashlib
import os
import shutil
import sys
from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace

from tests.gates.integrity.helpers import Project, gate, git, ids, write
from tests.gates.integrity.test_rooms import BROKEN, SKIPPED, START
from untilgreen.gates.integrity.gate import IntegrityGate

RIGHT = BROKEN.replace("-", "+")
IGNORE = ".gitignore"


@pytest.fixture(params=[True, False], ids=["at the workspace's path", "in a directory with copies"])
def project(request: pytest.FixtureRequest, tmp_path: Path, real_unittest: str) -> Project:
    return Project(
        tmp_path / "project",
        tmp_path / "private",
        (gate(f"{real_unittest} -q"),),
        at_home=request.param,
    )


def everything(place: Path) -> dict[str, str]:
    """Every path below a place, with its mode, and the hash of its content or the target of its link."""
    found = {}
    for path in sorted(place.rglob("*")):
        mode = f"{path.lstat().st_mode:o}"
        if path.is_symlink():
            found[str(path.relative_to(place))] = f"{mode} {path.readlink()}"
        elif path.is_file():
            found[str(path.relative_to(place))] = f"{mode} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        else:
            found[str(path.relative_to(place))] = mode
    return found


async def test_a_gate_that_empties_an_ignored_directory_empties_its_own(project: Project) -> None:
    """`npm ci` is such a gate: it begins by removing node_modules."""
    await project.begin({**START, "calc.py": RIGHT, IGNORE: "node_modules/\nbuild/\n.local\n"})
    write(project.root, {"node_modules/a/index.js": "1\n", "build/cache.txt": "a\n", ".local": "A=1\n"})
    before = everything(project.root)
    project.gates = (
        *project.gates,
        gate("test -f node_modules/a/index.js || test -f node_modules/b", name="parts"),
    )
    clean = gate(
        'case "$(cat .mark 2>/dev/null)" in "") exit 0;; esac; '
        "rm -rf node_modules && mkdir node_modules && echo 2 > node_modules/b && echo b >> build/cache.txt "
        "&& echo B=1 >> .local",
        name="install",
    )

    project.gates = (clean, *project.gates)
    verdict = await project.after({"test_calc.py": SKIPPED, ".mark": ""})
    assert verdict.status == "pass", verdict

    write(project.root, {".mark": "in a room only\n"})
    workspace = project.workspace()
    context = project.context(await workspace.snapshot("2"))
    verdict = await project.gate(workspace).check(context)

    assert (verdict.status, ids(verdict)) == ("pass", [])
    after = everything(project.root)
    assert {path: after.get(path) for path in before if ".git/" not in path and path != "test_calc.py"} == {
        path: said for path, said in before.items() if ".git/" not in path and path != "test_calc.py"
    }


async def begun(project: Project, *, link: Path | None = None) -> IntegrityGate:
    """A gate that knows what the ignored files were before the first lap; `tests` may be a link."""
    project.protect = ("tests", "tests/**", "test_it.sh")
    project.root.mkdir()
    if link is not None:
        (project.root / "tests").symlink_to(link)
    else:
        write(project.root, {"tests/original.txt": "strict\n"})
    git(project.root, "init", "--quiet")
    write(project.root, {"test_it.sh": "strict\n", IGNORE: "*.log\n"})
    project.base = await project.workspace().snapshot("0")
    guard = replace(project.gate(project.workspace()), memory=project.private / "unkept", clean_room=True)
    await guard.begin()
    return guard


@pytest.mark.parametrize("name", ["kept.log", "folder.log/file"])
async def test_ignored_files_below_a_former_link_cost_the_user_no_file(
    project: Project, tmp_path: Path, name: str
) -> None:
    """The original link is put back, and a path of the agent's directory then leads out of the room."""
    theirs = tmp_path / "shared"
    write(theirs, {name: "of the user\n"})
    project.gates = (gate("grep -q weak test_it.sh"),)
    guard = await begun(project, link=theirs)
    (project.root / "tests").unlink()
    write(project.root, {f"tests/{name}": "new\n", "tests/helper.txt": "new\n", "test_it.sh": "weak\n"})

    verdict = await guard.check(project.context(await project.workspace().snapshot("1")))

    assert verdict.status == "fail"
    assert (theirs / name).read_text() == "of the user\n"


async def test_originals_are_not_hidden_with_a_directory_of_ignored_files(project: Project) -> None:
    """Only an ignored file is left in the directory, so git lists the directory itself as ignored."""
    project.gates = (gate("test ! -e tests/new.log && grep -q strict tests/original.txt"),)
    guard = replace(await begun(project), clean_room=False)
    (project.root / "tests" / "original.txt").unlink()
    write(project.root, {"tests/new.log": ""})

    verdict = await guard.check(project.context(await project.workspace().snapshot("1")))

    assert verdict.status == "pass", verdict


@pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")
async def test_npm_ci_in_a_gate_leaves_node_modules_alone(project: Project) -> None:
    await project.begin(
        {
            **START,
            "calc.py": RIGHT,
            IGNORE: "node_modules/\n",
            "package.json": '{"name": "p", "version": "1.0.0", "dependencies": {"own": "file:own"}}',
            "own/package.json": '{"name": "own", "version": "1.0.0", "main": "i.js"}',
            "own/i.js": "module.exports = 1\n",
        }
    )
    npm = "npm --offline --no-audit --no-fund --cache .npm-cache"
    write(project.root, {IGNORE: "node_modules/\n.npm-cache/\n"})
    await anyio.run_process([*npm.split(), "install"], cwd=project.root)
    write(project.root, {"node_modules/mine/index.js": "a file that npm does not know\n"})
    project.base = await project.workspace().snapshot("0")
    before = everything(project.root / "node_modules")
    project.gates = (
        *project.gates,
        gate(f"test -f .git/first || {{ {npm} ci && node -e 'require(\"own\")'; }}", name="node"),
    )
    write(project.root, {".git/first": ""})

    verdict = await project.after({"test_calc.py": SKIPPED})
    assert verdict.status == "pass", verdict
    (project.root / ".git/first").unlink()
    workspace = project.workspace()
    verdict = await project.gate(workspace).check(project.context(await workspace.snapshot("2")))

    assert (verdict.status, ids(verdict)) == ("pass", [])
    assert everything(project.root / "node_modules") == before


async def test_an_editable_install_in_a_gate_leaves_the_environment_alone(project: Project) -> None:
    """The user's venv must not point to a directory that is gone after the gates."""
    await project.begin({**START, "calc.py": RIGHT, IGNORE: ".venv/\n"})
    packages = ".venv/lib/site-packages"
    write(project.root, {f"{packages}/own.pth": f"{project.root}\n", f"{packages}/other.py": "x = 1\n"})
    before = everything(project.root / ".venv")
    install = f"pwd > {packages}/own.pth && rm -f {packages}/other.py && ! test -f {packages}/other.py"
    project.gates = (*project.gates, gate(f"test -f .git/first || {{ {install}; }}", name="install"))
    write(project.root, {".git/first": ""})
    await project.after({"test_calc.py": SKIPPED})
    (project.root / ".git/first").unlink()

    workspace = project.workspace()
    verdict = await project.gate(workspace).check(project.context(await workspace.snapshot("2")))

    assert (verdict.status, ids(verdict)) == ("pass", [])
    assert everything(project.root / ".venv") == before


async def test_an_environment_outside_the_tree_is_left_alone_under_an_overlay(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "env"))
    write(tmp_path, {"env/own.pth": "mine\n"})
    install = gate(f"test -f .git/first || echo x > {tmp_path}/env/own.pth", name="install")
    project.gates = (*project.gates, install)
    await project.begin({**START, "calc.py": RIGHT})
    write(project.root, {".git/first": ""})
    await project.after({"test_calc.py": SKIPPED})
    (project.root / ".git/first").unlink()

    workspace = project.workspace()
    verdict = await project.gate(workspace).check(project.context(await workspace.snapshot("2")))

    left = "mine\n" if project.at_home else "x\n"
    assert (verdict.status, (tmp_path / "env/own.pth").read_text()) == ("pass", left)


async def test_a_build_directory_that_knows_absolute_paths_builds_the_room(tmp_path: Path) -> None:
    """CMake's cache does, for example: a configured build keeps reading the workspace."""
    root = tmp_path / "project"
    project = Project(root, tmp_path / "private", (gate("sh build/run.sh"),))
    await project.begin({**START, IGNORE: "build/\n"})
    write(root, {"build/run.sh": f"cd '{root}' && {sys.executable} -m unittest -q\n"})

    verdict = await project.after({"test_calc.py": SKIPPED})

    assert verdict.status == "fail"
    assert ids(verdict)[0] == "changed: test_calc.py"


async def test_a_gate_that_looks_elsewhere_proves_nothing(tmp_path: Path) -> None:
    """If the room has another path, garbage in it must turn a gate red; this one never reads it."""
    root = tmp_path / "project"
    project = Project(root, tmp_path / "private", (gate("sh build/run.sh"),), at_home=False)
    await project.begin({**START, IGNORE: "build/\n"})
    write(root, {"build/run.sh": f"cd '{root}' && {sys.executable} -m unittest -q\n"})

    verdict = await project.after({"test_calc.py": SKIPPED})

    assert verdict.status == "error"
    assert ids(verdict) == ["looks-elsewhere", "changed: test_calc.py"]


async def test_originals_that_heal_themselves_are_found(project: Project) -> None:
    """A build script that rewrites the tests would replace the originals in the room."""
    await project.begin({**START, "make.py": "pass\n"})
    project.gates = (gate(f"{sys.executable} make.py && {sys.executable} -m unittest -q"),)
    project.allow = ("make.py",)

    verdict = await project.after(
        {
            "make.py": f"open('test_calc.py', 'w').write({SKIPPED!r})\n",
            "test_calc.py": SKIPPED,
        }
    )

    assert (verdict.status, ids(verdict)) == ("fail", ["rewritten: test_calc.py"])


@pytest.mark.parametrize(
    "other", ["", "    def test_other(self):\n        self.assertNotEqual(len(MARK), 4)\n"]
)
async def test_a_flaky_test_accuses_nobody(project: Project, other: str) -> None:
    """The agent never touched the file with the flaky test; it changed another one."""
    flaky = (
        "import pathlib, unittest\n\n\nclass Flaky(unittest.TestCase):\n    def test_it(self):\n"
        f"        mark = pathlib.Path({str(project.private / 'mark')!r})\n"
        "        first = mark.read_text() if mark.exists() else ''\n"
        "        mark.write_text(first + 'x')\n"
        "        self.assertNotEqual(len(first), 1)\n"
    ) + other.replace("MARK", f"pathlib.Path({str(project.private / 'mark')!r}).read_text()")
    await project.begin({**START, "calc.py": RIGHT, "test_flaky.py": flaky})

    verdict = await project.after({"test_calc.py": SKIPPED + "\n# more\n"})

    assert (verdict.status, verdict.flaky, ids(verdict)) == ("pass", True, [])


async def test_git_works_in_a_room_and_writes_nothing_outside(tmp_path: Path) -> None:
    root = tmp_path / "project"
    project = Project(root, tmp_path / "private", (gate("git status --short && git add -A"),))
    await project.begin(START)
    await project.after({"docs.md": "1\n"})
    index = (root / ".git/index").read_bytes()
    write(root, {"test_calc.py": SKIPPED, "more.md": "2\n"})
    workspace = project.workspace()

    verdict = await project.gate(workspace).check(project.context(await workspace.snapshot("2")))

    assert verdict.status == "pass"
    assert (root / ".git/index").read_bytes() == index
    assert not os.environ.get("GIT_INDEX_FILE")
