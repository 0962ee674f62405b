"""Put a project as published into a git repository, with one bug and some files that git ignores."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
import tarfile
from pathlib import Path

import platformdirs

from tests.projects.catalog import Project
from untilgreen.gates.output.tool_result import stable_name

CACHE = Path(platformdirs.user_cache_dir("untilgreen-tests")) / "projects"
HERE = Path(__file__).parent
IGNORED = {".env": "SECRET=1\n", "cache/data.bin": "\x00\x01 kept\n"}
IGNORE = "__pycache__/\n*.pyc\nnode_modules/\n.env\ncache/\n.venv/\n"


def command(
    *argv: str | Path, cwd: Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, argv)),
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
    )


def must(*argv: str | Path, cwd: Path) -> str:
    done = command(*argv, cwd=cwd)
    if done.returncode:
        raise SystemExit(f"{shlex.join(map(str, argv))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def archive(project: Project) -> Path:
    """The package's archive from the registry, downloaded once."""
    CACHE.mkdir(parents=True, exist_ok=True)
    pattern = f"{project.name}-{project.version}.*gz"
    if not list(CACHE.glob(pattern)):
        if project.is_python:
            pinned = f"{project.name}=={project.version}"
            flags = ["--no-deps", "--no-binary", ":all:", "-qq", "-d", str(CACHE)]
            must(sys.executable, "-m", "pip", "download", *flags, pinned, cwd=CACHE)
        else:
            must("npm", "pack", "--silent", f"{project.name}@{project.version}", cwd=CACHE)
    (found,) = CACHE.glob(pattern)
    return found


def checkout(project: Project, place: Path) -> Path:
    """Put the broken project into its own repository, and install its dependencies."""
    with tarfile.open(archive(project)) as tar:
        tar.extractall(place.with_name("unpacked"), filter="data")
    (inner,) = place.with_name("unpacked").iterdir()
    inner.rename(place)
    (place / ".gitignore").write_text(IGNORE)
    source = place / project.file
    text = source.read_text()
    assert text.count(project.good) >= 1, f"{project.name}: {project.good!r} is not in {project.file}"
    source.write_text(text.replace(project.good, project.bad, 1))
    for name, content in IGNORED.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(content)
    if project.needs:
        flags = ["--no-save", "--no-audit", "--no-fund", "--silent", "--prefer-offline"]
        must("npm", "install", *flags, *project.needs, cwd=place)
    must("git", "init", "-q", "-b", "main", cwd=place)
    must("git", "add", "-A", cwd=place)
    who = ["-c", "user.name=Kim", "-c", "user.email=kim@example.org"]
    must("git", *who, "commit", "-qm", "as shipped, with a bug", cwd=place)
    return place


def gate(project: Project) -> str:
    """The command that runs the project's tests."""
    match project.runner:
        case "pytest":
            plain = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTHONPATH=src:."
            return f"{plain} {sys.executable} -m pytest -q -p no:cacheprovider {project.tests}"
        case "unittest":
            return f"{sys.executable} -m unittest -q {project.tests}"
        case _:
            return f"node_modules/.bin/tape {project.tests}"


def failing_ids(project: Project, place: Path) -> list[str]:
    """The failing tests according to the runner's own interface, not its output."""
    listing = place.with_name("failing.json")
    env = {"LISTING": str(listing)}
    if project.runner == "pytest":
        env |= {"PYTHONPATH": f"src:.:{HERE}", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "list_pytest"]
        command(*argv, *project.tests.split(), cwd=place, env=env)
    elif project.runner == "unittest":
        command(sys.executable, HERE / "list_unittest.py", *project.tests.split(), cwd=place, env=env)
    else:
        files = sorted(str(path.relative_to(place)) for path in place.glob(project.tests))
        command("node", HERE / "list_tape.js", *files, cwd=place, env=env)
    ids: list[str] = json.loads(listing.read_text())
    listing.unlink()
    return sorted(map(stable_name, ids))  # a subtest may be named after a function's address


def ignored_files(place: Path) -> dict[str, str]:
    """A digest of every file that git ignores, or of a link's target; without Python's caches."""
    listed = must("git", "ls-files", "-z", "-o", "-i", "--exclude-standard", cwd=place).split("\0")
    found = {}
    for name in filter(None, listed):
        path = place / name
        if "__pycache__" not in name:
            link = path.is_symlink()
            data = os.fsencode(path.readlink()) if link else path.read_bytes()
            found[name] = hashlib.sha256(data).hexdigest()
    return found
