"""The published schema accepts and refuses the same specs as the program."""

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from untilgreen.config.spec.json_schema import spec_schema
from untilgreen.config.spec.schema import TABLES, CommandTable, GateRules, SpecFile, described_keys
from untilgreen.core.values.option_checks import kinds_of

GOOD = [
    'task = "Mend it."\nagent = "cmd:./fix.sh"\n[gates.tests]\nrun = "pytest -q"\ntimeout = "1h30m"\n',
    'agents = ["claude", { use = "codex", model = "x" }]\nstrategy = { use = "fixed", iterations = 2 }\n',
    '[limits]\ntime = "4h"\ncost = "$5"\ntokens = "2M"\niterations = "unlimited"\nsilence = "auto"\n',
    '[gates.own]\nuse = "./checks.py:NoTodos"\nword = "TODO"\n',
    '[gates.plain]\nkind = "command"\nrun = "true"\n',
    '[profiles.a]\nleave = "last"\n[profiles.b]\nextends = "a"\n[profiles.b.limits]\ntime = 60\n',
]
BAD = [
    'tsak = "Mend it."\n',
    'leave = "first"\n',
    '[gates.tests]\nrnu = "pytest -q"\n',
    '[gates.tests]\nrun = "true"\nstage = "one"\n',
    '[gates.tests]\nkind = "command"\nrun = "true"\nword = "TODO"\n',
    '[limits]\ntime = "soon"\n',
    "[limits]\niterations = 0\n",
    '[limits]\ncost = "5 apples"\n',
    "[integrity]\nprotects = []\n",
    "[profiles.quick]\nprofiles = {}\n",
]


def findings(text: str) -> list[str]:
    validator = Draft202012Validator(spec_schema())
    return [error.message for error in validator.iter_errors(tomllib.loads(text))]


@pytest.mark.parametrize("text", GOOD)
def test_a_good_spec_is_valid(text: str) -> None:
    assert findings(text) == []


@pytest.mark.parametrize("text", BAD)
def test_a_wrong_spec_is_not(text: str) -> None:
    assert findings(text) != []


def described(schema: Any) -> Iterator[tuple[str, bool]]:
    """Every key in the schema, and whether it has a description."""
    for name, shape in schema.get("properties", {}).items():
        if isinstance(shape, dict):
            yield name, bool(shape.get("description"))
            yield from described(shape)
    for inner in schema.get("anyOf", ()):
        yield from described(inner)
    for inner in ("additionalProperties", "then"):
        if isinstance(schema.get(inner), dict):
            yield from described(schema[inner])


def test_every_key_is_described() -> None:
    told = dict(described(spec_schema()))

    assert [name for name, said in told.items() if not said] == []
    assert set(told) == {
        *(
            name
            for table in (SpecFile, GateRules, CommandTable, *TABLES.values())
            for name in kinds_of(table)
        ),
        "profiles",
        "extends",
    }


def test_help_and_reference_have_every_key_of_every_table() -> None:
    told = dict(described_keys())

    assert [key for key, said in told.items() if not said.endswith(".")] == []
    assert {"task", "session.brief", "workspace.setup", "sandbox.network", "gates.NAME.run"} <= set(told)
    assert {f"{name}.{key}" for name, table in TABLES.items() for key in kinds_of(table)} <= set(told)
