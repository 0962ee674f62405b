"""The package as users get it: built, installed and started outside the source tree."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from email.message import Message
from importlib.metadata import requires
from pathlib import Path

import pytest

from untilgreen import __version__

ROOT = Path(__file__).parents[1]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".*_cache", ".hypothesis", "__pycache__")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel and a source distribution, built from a copy of the tree."""
    source = tmp_path_factory.mktemp("source") / "untilgreen"
    shutil.copytree(ROOT, source, ignore=LEFT_OUT)
    build = "from flit_core import buildapi as made; made.build_wheel('dist'); made.build_sdist('dist')"
    (source / "dist").mkdir()
    subprocess.run([sys.executable, "-c", build], cwd=source, check=True, capture_output=True)
    return source / "dist"


def metadata(built: Path) -> Message:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(wheel.read(name))


def installed(package: Path, place: Path) -> Path:
    """Install the package in a new environment with the tests' dependencies; return its program."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    libraries = next(place.glob("lib/python*/site-packages"))
    (libraries / "of_the_tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = [sys.executable, "-m", "pip", "--python", str(place / "bin/python"), "--disable-pip-version-check"]
    flags = ["install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--ignore-installed"]
    subprocess.run([*pip, *flags, str(package)], check=True, capture_output=True)
    return place / "bin/untilgreen"


@pytest.mark.parametrize("kind", ["*.whl", "*.tar.gz"])
def test_what_is_built_can_be_installed_and_started(built: Path, tmp_path: Path, kind: str) -> None:
    program = installed(next(built.glob(kind)), tmp_path / "venv")

    said = [
        subprocess.run([program, *words], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
        for words in (["--version"], ["help", "units"])
    ]
    where = [str(program.parent / "python"), "-P", "-c", "import untilgreen; print(untilgreen.__file__)"]
    home = subprocess.run(where, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    assert said[0] == f"untilgreen {__version__}\n"
    assert "1h30m" in said[1]
    assert home.startswith(str(tmp_path)), home


def test_the_package_says_what_an_index_shows(built: Path) -> None:
    told = metadata(built)

    assert (told["Name"], told["Version"]) == ("untilgreen", __version__)
    assert told["License-Expression"] == "Apache-2.0"
    assert told["Description-Content-Type"] == "text/markdown"
    body = told.get_payload(decode=True)
    assert isinstance(body, bytes)
    assert body.decode().strip() == (ROOT / "README.md").read_text().strip()
    classifiers = told.get_all("Classifier", [])
    assert "Development Status :: 3 - Alpha" in classifiers
    assert "Programming Language :: Python :: 3.11" in classifiers


def test_the_source_distribution_has_the_tests_and_nothing_of_a_workplace(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        top = {name.split("/", 2)[1] for name in archive.getnames() if "/" in name}

    assert {"src", "tests", "docs", "README.md", "LICENSE", "pyproject.toml", "Makefile"} <= top
    assert top & {".venv", ".git", "dist", "build"} == set()


def test_the_demo_needs_nothing_of_the_development_group() -> None:
    plan = subprocess.run(
        ["make", "--dry-run", "--always-make", "demo"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "MAKEFLAGS": ""},
    ).stdout

    assert "untilgreen demo" in plan
    assert "--group" not in plan
    assert "install --no-compile -e ." in plan


def test_the_backend_that_builds_the_package_needs_no_other_package() -> None:
    backends = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]

    assert [requires(re.split(r"[<>=]", backend)[0]) for backend in backends] == [None]
