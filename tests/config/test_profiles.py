"""Profiles: values under a name, on top of the rest of the file."""

from pathlib import Path

import pytest

from tests.config.helpers import finding, loaded
from untilgreen.core.values.limits import Limits

CHAIN = """\
strategy = "hybrid"
limits = { cost = 9, time = "9h" }

[profiles.base]
limits = { cost = 1, time = "1h" }
labels = { from = "base" }

[profiles.quick]
extends = "base"
limits.time = "10m"

[profiles.ci]
extends = "quick"
labels.from = "ci"
leave = "last"
"""


def test_a_profile_is_laid_over_the_file(tmp_path: Path) -> None:
    spec = loaded(tmp_path, CHAIN, profile="base").spec

    assert spec.limits == Limits(cost=1, time=3600.0)
    assert spec.file.leave == "best"


def test_without_a_profile_none_holds(tmp_path: Path) -> None:
    found = loaded(tmp_path, CHAIN)

    assert found.spec.limits == Limits(cost=9, time=9 * 3600.0)
    assert [path for path, _, _ in found.layers.leaves() if path[0] == "profiles"] == []


def test_a_profile_extends_another_and_that_one_a_third(tmp_path: Path) -> None:
    found = loaded(tmp_path, CHAIN, profile="ci")

    assert found.spec.limits == Limits(cost=1, time=600.0)
    assert (found.spec.file.leave, found.spec.file.labels) == ("last", {"from": "ci"})


def test_every_value_remembers_its_profile_and_its_line(tmp_path: Path) -> None:
    layers = loaded(tmp_path, CHAIN, profile="ci").layers

    places = {path: source.place(path) for path, _, source in layers.leaves() if source}

    assert places == {
        ("strategy",): "untilgreen.toml, line 1",
        ("limits", "cost"): "untilgreen.toml [profiles.base], line 5",
        ("limits", "time"): "untilgreen.toml [profiles.quick], line 10",
        ("labels", "from"): "untilgreen.toml [profiles.ci], line 14",
        ("leave",): "untilgreen.toml [profiles.ci], line 15",
    }


def test_a_profile_names_another_strategy_without_inheriting_options(tmp_path: Path) -> None:
    text = (
        "strategy = { use = 'hybrid', base = 3 }\n"
        "[profiles.quick]\nstrategy = { use = 'fixed', iterations = 2 }\n"
        "[profiles.patient]\nstrategy.base = 9\n"
    )

    quick = loaded(tmp_path, text, profile="quick").spec.strategy
    patient = loaded(tmp_path, text, profile="patient").spec.strategy

    assert (quick.name, quick.options) == ("fixed", {"iterations": 2})
    assert (patient.name, patient.options) == ("hybrid", {"base": 9})


def test_a_profile_may_change_a_part_of_a_gate(tmp_path: Path) -> None:
    text = "[gates.tests]\nrun = 'pytest'\nstage = 2\n[profiles.ci.gates.tests]\ntimeout = '1h'\n"

    (gate,) = loaded(tmp_path, text, profile="ci").spec.gates

    assert (gate.options, gate.stage, gate.timeout) == ({"run": "pytest"}, 2, 3600.0)


def test_a_profile_in_pyproject_has_its_lines_too(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.untilgreen.profiles.quick]\nleave = 'bets'\n")

    assert finding(tmp_path) == (
        "pyproject.toml [profiles.quick], line 2: leave can't be 'bets'. Did you mean 'best'?"
    )


def test_an_unknown_profile_is_answered_with_the_nearest(tmp_path: Path) -> None:
    assert finding(tmp_path, CHAIN, profile="quik") == "There is no profile 'quik'. Did you mean 'quick'?"
    assert finding(tmp_path, "", profile="quick") == (
        "There is no profile 'quick'. Add [profiles.quick] to the spec."
    )
    assert finding(tmp_path, CHAIN, env={"UNTILGREEN_PROFILE": "CI"}) == (
        "There is no profile 'CI' (from UNTILGREEN_PROFILE). Did you mean 'ci'?"
    )


def test_a_profile_needs_a_file(tmp_path: Path) -> None:
    assert finding(tmp_path, None, profile="quick") == (
        "There is no profile 'quick'. Add [profiles.quick] to the spec."
    )


def test_the_profile_of_the_command_line_goes_before_that_of_the_environment(tmp_path: Path) -> None:
    env = {"UNTILGREEN_PROFILE": "base"}

    assert loaded(tmp_path, CHAIN, env=env).spec.limits.time == 3600.0
    assert loaded(tmp_path, CHAIN, env=env, profile="quick").spec.limits.time == 600.0


@pytest.mark.parametrize("chosen", [None, "good"])
@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("leaf = 'best'", "[profiles.bad], line 4: there is no key 'leaf'. Did you mean 'leave'?"),
        ("limits.csot = 5", "[profiles.bad], line 4: there is no limit 'csot'. Did you mean 'cost'?"),
        ("limits.cost = 'x'", "[profiles.bad], line 4: limits.cost = 'x' is not a valid amount of money."),
        ("gates.a.stge = 5", "[profiles.bad], line 4: gate 'a' has no key 'stge'. Did you mean 'stage'?"),
        ("workspace.mod = 1", "[profiles.bad], line 4: workspace has no key 'mod'. Did you mean 'mode'?"),
        ("session = 5", "[profiles.bad], line 4: session = 5 must be text or a table."),
        ("profiles = {}", "[profiles.bad], line 4: profiles are only allowed in the spec file."),
        ("extends = 5", ", line 4: profiles.bad.extends must be the name of one profile, not 5."),
        (
            "extends = ['good']",
            ", line 4: profiles.bad.extends must be the name of one profile, not ['good'].",
        ),
        (
            "extends = 'god'",
            ", line 4: profiles.bad.extends is not the name of a profile: 'god'. Did you mean 'good'?",
        ),
        (
            "extends = 'bad'",
            ", line 4: profiles.bad.extends is circular: bad → bad. Remove one of them.",
        ),
    ],
)
def test_a_wrong_profile_is_an_error_chosen_or_not(
    tmp_path: Path, chosen: str | None, table: str, said: str
) -> None:
    text = f"[profiles.good]\nleave = 'last'\n[profiles.bad]\n{table}\n"

    heard = finding(tmp_path, text, profile=chosen)

    assert heard.removeprefix("untilgreen.toml").lstrip(" ").startswith(said)


def test_a_circle_is_shown_as_it_goes(tmp_path: Path) -> None:
    text = "[profiles]\na = { extends = 'b' }\nb = { extends = 'c' }\nc = { extends = 'a' }\n"

    assert finding(tmp_path, text) == (
        "untilgreen.toml, line 4: profiles.c.extends is circular: a → b → c → a. Remove one of them."
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("profiles = 5\n", "untilgreen.toml, line 1: profiles must be a table of profiles."),
        ("[profiles]\nquick = 'x'\n", "untilgreen.toml, line 2: profiles.quick must be a table."),
    ],
)
def test_profiles_are_tables(tmp_path: Path, text: str, said: str) -> None:
    assert finding(tmp_path, text) == said


def test_a_profile_may_rely_on_what_the_command_line_adds(tmp_path: Path) -> None:
    text = "limits = { iterations = 'unlimited', time = 'unlimited' }\n[profiles.a]\nleave = 'last'\n"

    assert loaded(tmp_path, text, sets=["limits.cost=5"]).spec.limits.cost == 5.0


def test_a_wrong_value_in_the_file_is_not_hidden_by_a_profile(tmp_path: Path) -> None:
    text = "leave = 'bets'\n[profiles.a]\nleave = 'last'\n"

    assert finding(tmp_path, text, profile="a").startswith("untilgreen.toml, line 1: leave can't be 'bets'.")
