"""One spec from file, profile, environment and flags."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import untilgreen
from tests.config.helpers import TASK, finding, loaded
from untilgreen.config.load import Loaded, Request, load
from untilgreen.config.spec.schema import SpecFile
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import GateSpec, PartSpec
from untilgreen.errors import ConfigError

EVERYTHING = """\
leave = "last"
session = "continue"
limits = { cost = 1, time = "1h", errors = 1, tokens = 1, waits = 1 }
[profiles.mine]
limits = { cost = 2, time = "2h", errors = 2, tokens = 2 }
"""


def sources(found: Loaded) -> dict[str, str]:
    return {".".join(path): source.name for path, _, source in found.layers.leaves() if source}


def test_without_a_spec_the_command_line_says_all(tmp_path: Path) -> None:
    found = loaded(tmp_path, None, flags={"agents": ["cmd:./fix.sh"], "gates": {"tests": {"run": "pytest"}}})

    assert found.spec.task == TASK
    assert found.spec.agents == (
        PartSpec(name="cmd:./fix.sh", use="command", options={"command": "./fix.sh"}),
    )
    assert found.spec.gates == (GateSpec(name="tests", options={"run": "pytest"}, shown_as="pytest"),)
    assert (found.path, found.base) == (None, tmp_path)


def test_flags_go_before_variables_those_before_the_profile_and_that_before_the_file(tmp_path: Path) -> None:
    found = loaded(
        tmp_path,
        EVERYTHING,
        profile="mine",
        env={
            "UNTILGREEN_LIMITS__COST": "3",
            "UNTILGREEN_LIMITS__TIME": "3h",
            "UNTILGREEN_LIMITS__ERRORS": "3",
        },
        flags={"limits": {"cost": "$4", "time": "4h"}},
        sets=["limits.cost=5"],
    )

    assert found.spec.limits == Limits(cost=5, time=4 * 3600.0, errors=3, tokens=2, waits=1)
    assert sources(found) == {
        "leave": "untilgreen.toml",
        "session": "untilgreen.toml",
        "limits.cost": "--set limits.cost",
        "limits.time": "command line",
        "limits.errors": "variable UNTILGREEN_LIMITS__ERRORS",
        "limits.tokens": "untilgreen.toml [profiles.mine]",
        "limits.waits": "untilgreen.toml",
    }


def test_paths_in_the_spec_start_where_the_spec_is(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()

    found = loaded(tmp_path, "leave = 'last'\n", start=tmp_path / "src")

    assert (found.base, found.path) == (tmp_path, tmp_path / "untilgreen.toml")
    assert found.spec.file.leave == "last"


def test_a_spec_further_up_is_named_in_full(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()

    said = finding(tmp_path, "leaf = 1\n", start=tmp_path / "src")

    assert said == f"{tmp_path / 'untilgreen.toml'}, line 1: there is no key 'leaf'. Did you mean 'leave'?"


def test_the_table_in_pyproject_is_a_spec_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.untilgreen]\nleave = 'last'\nsesion = 'fresh'\n")

    assert finding(tmp_path) == ("pyproject.toml, line 3: there is no key 'sesion'. Did you mean 'session'?")


def test_another_file_is_used_when_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "ci.toml").write_text("leave = 'last'\n")
    monkeypatch.chdir(tmp_path / "etc")

    found = loaded(tmp_path, "leave = 'best'\n", config=Path("ci.toml"))

    assert found.spec.file.leave == "last"
    assert (found.base, found.path) == (tmp_path / "etc", tmp_path / "etc" / "ci.toml")


def test_a_variable_may_name_the_file_and_a_flag_goes_before_it(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.toml").write_text(f"labels.from = '{name}'\n")
    env = {"UNTILGREEN_CONFIG": str(tmp_path / "one.toml")}

    assert loaded(tmp_path, env=env).spec.file.labels == {"from": "one"}
    assert loaded(tmp_path, env=env, config=tmp_path / "two.toml").spec.file.labels == {"from": "two"}


def test_a_missing_file_is_reported_with_what_named_it(tmp_path: Path) -> None:
    missing = tmp_path / "no.toml"

    assert finding(tmp_path, config=missing).startswith(f"There is no file {missing}.")
    assert finding(tmp_path, env={"UNTILGREEN_CONFIG": "~nobody-here/x.toml"}).startswith(
        "There is no file ~nobody-here/x.toml (from UNTILGREEN_CONFIG)."
    )
    assert finding(tmp_path, config=tmp_path).startswith(f"{tmp_path} can't be read: Is a directory.")


def test_a_relative_start_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)

    assert load(Request(start=Path(), task="x")).base == Path.cwd()


@pytest.mark.parametrize(
    ("variables", "key", "value"),
    [
        ({"AGENT": "cmd:./fix.sh"}, "agent", "cmd:./fix.sh"),
        ({"AGENTS": "['a', 'b']"}, "agents", ["a", "b"]),
        ({"STRATEGY": "fixed"}, "strategy", "fixed"),
        ({"STRATEGY__BASE": "4"}, "strategy", {"base": 4}),
        ({"STRATEGY": "fixed", "STRATEGY__ITERATIONS": "4"}, "strategy", {"use": "fixed", "iterations": 4}),
        ({"DETECTORS": "[]"}, "detectors", []),
        ({"BASELINE": "false"}, "baseline", False),
        ({"TASK": "404"}, "task", "404"),
        ({"LABELS__WORK_ORDER": "17"}, "labels", {"work_order": "17"}),
        ({"GATES__TESTS__RUN": "pytest -q"}, "gates", {"tests": {"run": "pytest -q"}}),
        ({"ON_INTERRUPT": "rewind"}, "on_interrupt", "rewind"),
    ],
)
def test_a_variable_is_a_key(tmp_path: Path, variables: dict[str, str], key: str, value: Any) -> None:
    env = {f"UNTILGREEN_{name}": text for name, text in variables.items()}

    assert loaded(tmp_path, None, env=env).layers.values == {key: value}


@pytest.mark.parametrize(
    ("variable", "text", "said"),
    [
        (
            "AGNET",
            "x",
            "The variable UNTILGREEN_AGNET doesn't match any spec key. Did you mean 'UNTILGREEN_AGENT'?",
        ),
        (
            "STATEDIR",
            "x",
            "The variable UNTILGREEN_STATEDIR doesn't match any spec key. Did you mean 'UNTILGREEN_STATE_",
        ),
        (
            "LIMIT__COST",
            "5",
            "The variable UNTILGREEN_LIMIT__COST doesn't match any spec key. Did you mean 'UNTILG",
        ),
        ("PROFILES__A", "x", "The variable UNTILGREEN_PROFILES__A doesn't match any spec key."),
        ("_", "x", "The variable UNTILGREEN__ doesn't match any spec key."),
        (
            "LIMITS__COSTS",
            "5",
            "variable UNTILGREEN_LIMITS__COSTS: there is no limit 'costs'. Did you mean",
        ),
        (
            "LIMITS__COST",
            "x",
            "variable UNTILGREEN_LIMITS__COST: limits.cost = 'x' is not a valid amount of money.",
        ),
        ("LIMITS__", "5", "variable UNTILGREEN_LIMITS__: there is no limit ''."),
        (
            "SESSION",
            "frsh",
            "variable UNTILGREEN_SESSION: session can't be 'frsh'. Did you mean 'fresh'?",
        ),
        ("TASK__X", "5", "variable UNTILGREEN_TASK__X: task = {'x': 5} must be text."),
    ],
)
def test_a_variable_that_is_wrong_is_named(tmp_path: Path, variable: str, text: str, said: str) -> None:
    assert finding(tmp_path, None, env={f"UNTILGREEN_{variable}": text}).startswith(said)


def test_an_empty_variable_and_those_of_others_say_nothing(tmp_path: Path) -> None:
    env = {"UNTILGREEN_AGENT": "", "UNTILGREEN": "x", "NOT_UNTILGREEN_AGENT": "x", "HOME": "/"}

    assert loaded(tmp_path, None, env=env).layers.values == {}


def test_no_variable_that_untilgreen_itself_uses_is_in_the_way() -> None:
    """Inside a run all of them may be set at once, and `untilgreen check` has to work there."""
    package = Path(untilgreen.__file__).parent
    paths = [path for path in package.rglob("*.py") if package / "config" not in path.parents]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    named = {name for text in texts for name in re.findall(r"\bUNTILGREEN_[A-Z_]+", text)}
    used = {name for name in named if not name.endswith("_") and "__" not in name}
    env = dict.fromkeys(used - {"UNTILGREEN_CONFIG", "UNTILGREEN_PROFILE"}, "some-value-of-its-own")

    assert {"UNTILGREEN_INSIDE", "UNTILGREEN_STATE_DIR"} <= used
    assert load(Request(start=Path("/"), task="x", env=env)).layers.values == {}


@pytest.mark.parametrize(
    ("below", "written", "values"),
    [
        ("", "limits.iterations=12", {"limits": {"iterations": 12}}),
        ("limits.cost = 5", "limits={ time = '1h' }", {"limits": {"cost": 5, "time": "1h"}}),
        ("detectors = ['cycle']", "detectors=[]", {"detectors": []}),
        ("", "strategy=fixed", {"strategy": "fixed"}),
        ("", "strategy.base=4", {"strategy": {"base": 4}}),
        ("strategy = 'hybrid'", "strategy.base=4", {"strategy": {"use": "hybrid", "base": 4}}),
        ("agent = 'claude'", "agent.model=opus", {"agent": {"use": "claude", "model": "opus"}}),
        ("agents = ['claude']", "agent.model=opus", {"agent": {"use": "claude", "model": "opus"}}),
        ("agents = ['a', 'b']", "agent=claude", {"agent": "claude"}),
        ("workspace = 'in-place'", "workspace.mode='in-place'", {"workspace": {"mode": "in-place"}}),
        (
            "[gates.'a.b']\nrun = 'x'",
            'gates."a.b".stage=2',
            {"gates": {"a.b": {"run": "x", "stage": 2}}},
        ),
        ("", "labels.version=1.0", {"labels": {"version": "1.0"}}),
    ],
)
def test_set_reaches_every_key(tmp_path: Path, below: str, written: str, values: dict[str, Any]) -> None:
    assert loaded(tmp_path, below, sets=[written]).layers.values == values


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("limits", "--set 'limits' is not key=value. Write it like --set limits.iterations=12."),
        (
            "limits.itrations=3",
            "--set limits.itrations: there is no limit 'itrations'. Did you mean 'iterations'?",
        ),
        ("leave=bets", "--set leave: leave can't be 'bets'. Did you mean 'best'?"),
        ("task.x=1", "--set task.x: task = {'x': 1} must be text."),
        ("detectors.cycle=3", "--set detectors.cycle: detectors = {'cycle': 3} must be a list."),
        ("profiles.a.leave=last", "--set profiles.a.leave: profiles are only allowed in the spec file."),
        ("gates.tests=pytest", "--set gates.tests: gates.tests = 'pytest' must be a table."),
        ("agent.model=opus", "--set agent.model: agent does not name a plugin."),
    ],
)
def test_a_wrong_set_is_reported_as_it_was_typed(tmp_path: Path, written: str, said: str) -> None:
    assert finding(tmp_path, None, sets=[written]).startswith(said)


def test_the_last_of_several_sets_holds(tmp_path: Path) -> None:
    found = loaded(tmp_path, None, sets=["leave=last", "leave=best", "limits.cost=1", "limits.cost=2"])

    assert (found.spec.file.leave, found.spec.limits.cost) == ("best", 2.0)


def test_a_flag_for_the_agent_replaces_whichever_way_the_file_names_one(tmp_path: Path) -> None:
    for text in ("agent = 'claude'", "agents = ['claude', 'codex']"):
        found = loaded(tmp_path, text, flags={"agents": ["cmd:x"]})

        assert [agent.name for agent in found.spec.agents] == ["cmd:x"]


def test_a_variable_for_the_agent_replaces_the_list_in_the_file(tmp_path: Path) -> None:
    found = loaded(tmp_path, "agents = ['claude', 'codex']", env={"UNTILGREEN_AGENT": "cmd:x"})

    assert [agent.name for agent in found.spec.agents] == ["cmd:x"]


def test_a_wrong_flag_is_reported_as_from_the_command_line(tmp_path: Path) -> None:
    assert finding(tmp_path, None, flags={"limits": {"time": "soon"}}).startswith(
        "command line: limits.time = 'soon' is not a valid duration."
    )


def test_the_task_comes_from_the_spec_when_none_is_given(tmp_path: Path) -> None:
    assert loaded(tmp_path, "task = 'Fix it'\n", task=None).spec.task == "Fix it"
    assert loaded(tmp_path, "task = 'Fix it'\n", task="That").spec.task == "That"


def test_the_task_may_be_a_file_next_to_the_spec(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "PROMPT.md").write_bytes(b"\xef\xbb\xbf# Fix it\n\nAll of it.\n")

    found = loaded(tmp_path, "task_file = 'PROMPT.md'\n", task=None, start=tmp_path / "src")

    assert found.spec.task == "# Fix it\n\nAll of it."


def test_a_task_that_was_given_needs_no_file(tmp_path: Path) -> None:
    assert loaded(tmp_path, "task_file = 'missing.md'\n", task="That").spec.task == "That"


def test_a_task_in_a_later_layer_replaces_the_file(tmp_path: Path) -> None:
    (tmp_path / "PROMPT.md").write_text("Fix it")
    text = "task_file = 'missing.md'\n[profiles.a]\ntask = 'This'\n[profiles.b]\ntask_file = 'PROMPT.md'\n"

    assert loaded(tmp_path, text, task=None, profile="a").spec.task == "This"
    assert loaded(tmp_path, text, task=None, profile="b").spec.task == "Fix it"
    assert loaded(tmp_path, text, task=None, env={"UNTILGREEN_TASK": "Now"}).spec.task == "Now"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "can't be read: No such file or directory. Correct the path, or give the task itself."),
        (b"\xff", "can't be read: 'utf-8' codec can't decode byte 0xff"),
        (b" \n", "is empty. Describe in it what you want done."),
    ],
)
def test_a_task_file_without_a_task_is_reported_with_its_line(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / "PROMPT.md").write_bytes(content)

    assert finding(tmp_path, "leave = 'last'\ntask_file = 'PROMPT.md'\n", task=None).startswith(
        f"untilgreen.toml, line 2: task_file = 'PROMPT.md' {said}"
    )


def test_a_task_file_with_an_impossible_name_is_reported(tmp_path: Path) -> None:
    assert "can't be read: " in finding(tmp_path, 'task_file = "a\\u0000b"\n', task=None)


@pytest.mark.parametrize("task", ["", " \n"])
def test_an_empty_task_does_not_fall_back_to_the_one_in_the_spec(tmp_path: Path, task: str) -> None:
    assert finding(tmp_path, "task = 'Fix it'\n", task=task).startswith("The task is empty.")


def test_a_missing_task_is_reported_with_the_ways_to_give_one(tmp_path: Path) -> None:
    assert finding(tmp_path, "", task=None).startswith("There is no task. Give it as an argument")


def test_task_and_task_file_in_one_file_are_an_error(tmp_path: Path) -> None:
    assert finding(tmp_path, "task = 'x'\ntask_file = 'y'\n", task=None) == (
        "untilgreen.toml, line 1: `task` and `task_file` are both set. Keep one."
    )


VARIABLES = st.sampled_from(
    [*(key.upper() for key in SpecFile.__struct_fields__), "LIMITS__COST", "GATES__A__RUN"]
)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    ["[]", "{}", "4", "{a=1}", "'x'", "inf"]
)


@given(
    st.dictionaries(VARIABLES, TEXTS, max_size=3),
    st.lists(
        st.tuples(st.sampled_from(["strategy", "agent.x", "limits.time", "gates.'a'.run"]), TEXTS), max_size=3
    ),
    st.none() | TEXTS,
)
def test_whatever_is_typed_ends_in_a_spec_or_in_a_sentence(
    variables: dict[str, str], sets: list[tuple[str, str]], most: str | None
) -> None:
    request = Request(
        start=Path("/"),
        task="x",
        env={f"UNTILGREEN_{name}": text for name, text in variables.items()},
        sets=[f"{key}={text}" for key, text in sets],
        max_iterations=most,
    )
    said = ""
    try:
        load(request)
    except ConfigError as error:
        said = str(error)
    assert said[-1:] in ("", ".", "?")
