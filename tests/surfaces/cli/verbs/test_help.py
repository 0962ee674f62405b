"""help: topics, the manual page and the reference match the code."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import Invoke
from untilgreen.config.load import SETTINGS
from untilgreen.surfaces.cli.main import GROUPS, VERBS
from untilgreen.surfaces.cli.verbs.help import VARIABLES

ROOT = Path(__file__).parents[4]


def test_every_variable_that_people_set_is_explained(invoke: Invoke) -> None:
    names = {name for name, _ in VARIABLES}

    assert {f"UNTILGREEN_{name}" for name in SETTINGS} <= names
    assert all(name in invoke("help", "environment").out for name in names)


def test_every_key_of_the_spec_is_explained(invoke: Invoke) -> None:
    told = invoke("help", "spec").out

    assert all(f"{key}  " in told for key in ("task ", "limits.cost ", "gates.NAME.run ", "integrity.allow "))


def test_every_verb_of_a_group_exists() -> None:
    assert {verb for verbs in GROUPS.values() for verb in verbs} <= set(VERBS)


def test_units_are_explained(invoke: Invoke) -> None:
    assert "1h30m" in invoke("help", "units").out


def test_an_unknown_topic_is_answered_with_the_nearest(invoke: Invoke) -> None:
    done = invoke("help", "exit-code")

    assert done.code == 2
    assert "exit-codes" in done.err


@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff")
def test_the_manual_page_is_valid_and_has_every_verb(invoke: Invoke) -> None:
    page = invoke("help", "manual").out
    read = subprocess.run(
        ["groff", "-man", "-Tascii", "-ww", "-P-cbou"], input=page, capture_output=True, text=True, check=True
    )

    assert read.stderr == ""
    assert {verb for verb in VERBS if f"untilgreen {verb}" in read.stdout} == set(VERBS)
    assert "--max-iterations" in read.stdout


def test_the_reference_is_what_the_code_says() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs/reference/make.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
