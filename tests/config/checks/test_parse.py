"""From values to a spec: the valid values of every key, and an error for everything else."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.config.helpers import TASK, layers_of
from untilgreen.config.checks.parse import check, parse
from untilgreen.config.spec.schema import CommandTable, GateRules, SessionTable, Spec, SpecFile
from untilgreen.core.defaults import DETECTORS
from untilgreen.core.loop.remedies import RUNGS
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import GateSpec, PartSpec, SandboxSpec
from untilgreen.errors import ConfigError


def spec_of(*tables: dict[str, Any]) -> Spec:
    return parse(layers_of(*tables), TASK)


def finding(*tables: dict[str, Any], task: str | None = TASK) -> str:
    with pytest.raises(ConfigError) as caught:
        parse(layers_of(*tables), task)
    return str(caught.value).removeprefix(f"layer {len(tables)}: ")


def test_an_empty_spec_has_the_defaults() -> None:
    spec = spec_of({})

    assert spec == Spec(
        task=TASK,
        agents=(),
        strategy=PartSpec(name="hybrid"),
        detectors=tuple(PartSpec(name=name) for name in DETECTORS),
        notify=(),
        gates=(),
        limits=Limits(),
        workspace={"mode": "in-place"},
        session=SessionTable(),
        sandbox=SandboxSpec(),
        file=SpecFile(),
    )
    assert (spec.file.remedies, spec.file.session, spec.file.leave) == (list(RUNGS), "fresh", "best")
    assert (spec.file.on_interrupt, spec.file.baseline, spec.file.promise) == ("keep", True, None)


def test_a_full_spec_is_read_key_by_key() -> None:
    spec = spec_of(
        {
            "agents": ["claude", {"use": "codex", "model": "x"}],
            "strategy": {"use": "hybrid", "base": 3, "bonus": 2},
            "detectors": ["cycle", {"use": "stall", "laps": 4}],
            "remedies": ["hint", "ask"],
            "session": "continue",
            "workspace": {"mode": "in-place"},
            "leave": "last",
            "on_interrupt": "rewind",
            "promise": "ALL DONE",
            "baseline": False,
            "notify": ["bell", {"use": "command:say", "quiet": True}],
            "labels": {"work_order": "17"},
            "limits": {"iterations": 9, "time": "90m", "cost": "$5", "tokens": "2M", "wait": "1d"},
            "gates": {"tests": {"run": "pytest"}, "todos": {"use": "./checks.py:NoTodos"}},
        }
    )

    assert spec.agents == (PartSpec(name="claude"), PartSpec(name="codex", options={"model": "x"}))
    assert spec.strategy == PartSpec(name="hybrid", options={"base": 3, "bonus": 2})
    assert spec.detectors == (PartSpec(name="cycle"), PartSpec(name="stall", options={"laps": 4}))
    assert spec.notify == (
        PartSpec(name="bell"),
        PartSpec(name="command:say", use="command", options={"command": "say", "quiet": True}),
    )
    assert spec.gates == (
        GateSpec(name="tests", options={"run": "pytest"}, shown_as="pytest"),
        GateSpec(name="todos", kind="./checks.py:NoTodos"),
    )
    assert spec.limits == Limits(iterations=9, time=5400.0, cost=5.0, tokens=2_000_000, wait=86_400.0)
    assert spec.workspace == {"mode": "in-place"}
    file = spec.file
    assert (file.remedies, file.session, file.leave) == (["hint", "ask"], "continue", "last")
    assert (file.on_interrupt, file.promise, file.baseline) == ("rewind", "ALL DONE", False)
    assert file.labels == {"work_order": "17"}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"agnet": "x"}, "there is no key 'agnet'. Did you mean 'agent'?"),
        ({"Task": "x"}, "there is no key 'Task'. Did you mean 'task'?"),
        ({"max-iterations": 5}, "there is no key 'max-iterations'. Known: agent, agents, baseline, "),
        ({"limits": {"iteratons": 5}}, "there is no limit 'iteratons'. Did you mean 'iterations'?"),
        ({"gates": {"a": {"run": "x", "stge": 1}}}, "gate 'a' has no key 'stge'. Did you mean 'stage'?"),
        ({"workspace": {"mod": "in-place"}}, "workspace has no key 'mod'. Did you mean 'mode'?"),
        ({"profiles": {"a": {}}}, "profiles are only allowed in the spec file. Move them there."),
        ({"integrity": {"protct": []}}, "integrity has no key 'protct'. Did you mean 'protect'?"),
    ],
)
def test_an_unknown_key_is_an_error_at_every_level(values: dict[str, Any], said: str) -> None:
    assert finding(values).startswith(said)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"task": 5}, "task = 5 must be text."),
        ({"task_file": ["a"]}, "task_file = ['a'] must be text."),
        ({"agent": 5}, "agent = 5 must be text or a table."),
        ({"agents": "claude"}, "agents = 'claude' must be a list."),
        ({"agents": ["claude", 5]}, "agents (entry 2) = 5 must be text or a table."),
        ({"strategy": ["fixed"]}, "strategy = ['fixed'] must be text or a table."),
        ({"detectors": "cycle"}, "detectors = 'cycle' must be a list."),
        ({"detectors": {"use": "cycle"}}, "detectors = {'use': 'cycle'} must be a list."),
        ({"remedies": ["hint", "frsh"]}, "remedies (entry 2) can't be 'frsh'. Did you mean 'fresh'?"),
        ({"remedies": "hint"}, "remedies = 'hint' must be a list."),
        ({"session": "contnue"}, "session can't be 'contnue'. Did you mean 'continue'?"),
        ({"session": True}, "session = true must be text or a table."),
        ({"workspace": 5}, "workspace = 5 must be text or a table."),
        ({"leave": "Best"}, "leave can't be 'Best'. Did you mean 'best'?"),
        ({"on_interrupt": "rewnd"}, "on_interrupt can't be 'rewnd'. Did you mean 'rewind'?"),
        ({"promise": True}, "promise = true must be text."),
        ({"baseline": "no"}, "baseline = 'no' must be true or false."),
        ({"notify": "bell"}, "notify = 'bell' must be a list."),
        ({"labels": ["a"]}, "labels = ['a'] must be a table."),
        ({"labels": {"order": 17}}, "labels.order = 17 must be text."),
        ({"limits": 20}, "limits = 20 must be a table."),
        ({"limits": {"cost": True}}, "limits.cost = true must be a number or text."),
        ({"limits": {"time": ["1h"]}}, "limits.time = ['1h'] must be a number or text."),
        (
            {"limits": {"unknown_cost": "ignor"}},
            "limits.unknown_cost can't be 'ignor'. Did you mean 'ignore'?",
        ),
        ({"limits": {"unknown_cost": 5}}, "limits.unknown_cost can't be 5. Known: estimate, ignore, refuse."),
        ({"limits": {"iterations": float("inf")}}, "limits.iterations = inf must be a finite number."),
        ({"limits": {"tokens": 10**30}}, "limits.tokens is too large. Write a smaller number."),
        ({"gates": "pytest"}, "gates = 'pytest' must be a table."),
        ({"gates": {"tests": "pytest"}}, "gates.tests = 'pytest' must be a table."),
    ],
)
def test_a_value_of_the_wrong_type_is_described_in_plain_words(values: dict[str, Any], said: str) -> None:
    assert finding(values) == said


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"iterations": 0}, "limits.iterations = 0 must be above zero. For no limit, write"),
        ({"iterations": -3}, "limits.iterations = -3 must be above zero."),
        ({"iterations": 2.5}, "limits.iterations = 2.5 must be a whole number."),
        ({"iterations": "many"}, "limits.iterations = 'many' is not a valid count. Write it like 20"),
        ({"time": 0}, "limits.time = 0 must be above zero."),
        ({"time": "soon"}, "limits.time = 'soon' is not a valid duration. Write it like '90s'"),
        ({"lap": "-5m"}, "limits.lap = '-5m' is not a valid duration."),
        ({"silence": "0s"}, "limits.silence = '0s' must be above zero."),
        (
            {"cost": "five"},
            "limits.cost = 'five' is not a valid amount of money. Write it like '$5' or 2.50.",
        ),
        ({"cost": 0.0}, "limits.cost = 0.0 must be above zero."),
        ({"tokens": "2x"}, "limits.tokens = '2x' is not a valid count."),
        ({"errors": 0}, "limits.errors = 0 must be above zero."),
        ({"waits": "0"}, "limits.waits = '0' must be above zero."),
        ({"wait": ""}, "limits.wait = '' is not a valid duration."),
        ({"token_price": "cheap"}, "limits.token_price = 'cheap' is not a valid amount of money."),
        ({"unknown_cost": "estimate"}, "limits.unknown_cost = 'estimate' needs limits.token_price"),
        ({"iterations": "unlimited", "time": "unlimited"}, "Every limit that ends a run is unlimited."),
    ],
)
def test_a_limit_that_limits_nothing_is_refused(limits: dict[str, Any], said: str) -> None:
    assert finding({"limits": limits}).startswith(said)


def test_a_limit_that_cannot_be_read_is_reported_with_the_layer_that_has_it() -> None:
    with pytest.raises(ConfigError, match=r"^layer 2: limits\.cost = 'x' is not a valid amount of money"):
        spec_of({"limits": {"time": "1h", "cost": 5}}, {"limits": {"cost": "x"}})


@pytest.mark.parametrize(
    ("written", "limits"),
    [
        ({"iterations": "Unlimited"}, Limits(iterations=None)),
        ({"time": "unlimited", "lap": "unlimited"}, Limits(time=None, lap=None)),
        (
            {"iterations": "unlimited", "time": "unlimited", "cost": 5},
            Limits(iterations=None, time=None, cost=5),
        ),
        ({"time": 90, "lap": "1h 30m"}, Limits(time=90.0, lap=5400.0)),
        ({"cost": "2.50usd", "tokens": "200k"}, Limits(cost=2.5, tokens=200_000)),
        ({"unknown_cost": "estimate", "token_price": "$3"}, Limits(unknown_cost="estimate", token_price=3.0)),
        ({"silence": "auto"}, Limits()),
    ],
)
def test_limits_are_read_as_people_write_them(written: dict[str, Any], limits: Limits) -> None:
    assert spec_of({"limits": written}).limits == limits


@pytest.mark.parametrize(
    ("workspace", "said"),
    [
        ({"setup": "npm ci"}, "workspace.setup needs the mode 'worktree'. Add `mode = 'worktree'`, or"),
        ({"mode": "in-place", "copy": [".env"]}, "workspace.copy needs the mode 'worktree'. Add"),
        ("in_place", "workspace can't be 'in_place'. Did you mean 'in-place'?"),
        ({"mode": 5}, "workspace.mode can't be 5. Known: in-place, worktree."),
        ({"mode": ["worktree"]}, "workspace.mode can't be ['worktree']. Did you mean 'worktree'?"),
        ({"mode": "worktree", "setup": 5}, "workspace.setup = 5 must be text or a list."),
        ({"mode": "worktree", "setup": ["npm ci", " "]}, "workspace.setup has an empty command. Remove it."),
        ({"mode": "worktree", "copy": ".env"}, "workspace.copy = '.env' must be a list."),
        ({"mode": "worktree", "copy": ["../.env"]}, "workspace.copy can't contain '../.env'. Write paths in"),
        ({"mode": "worktree", "copy": ["/etc/hosts"]}, "workspace.copy can't contain '/etc/hosts'."),
        ({"mode": "worktree", "copy": ["a/.git/config"]}, "workspace.copy can't contain 'a/.git/config'."),
        ({"mode": "worktree", "copy": [""]}, "workspace.copy can't contain ''."),
        ({"max_file": "big"}, "workspace.max_file = 'big' is not a valid count."),
    ],
)
def test_a_workspace_that_makes_no_sense_is_refused(workspace: Any, said: str) -> None:
    assert finding({"workspace": workspace}).startswith(said)


@pytest.mark.parametrize(
    ("written", "workspace"),
    [
        ("worktree", {"mode": "worktree", "setup": [], "copy": []}),
        ({"max_file": "50M"}, {"mode": "in-place", "max_file": 50_000_000}),
        (
            {"mode": "worktree", "setup": "npm ci", "copy": [".env", "certs/*.pem"]},
            {"mode": "worktree", "setup": ["npm ci"], "copy": [".env", "certs/*.pem"]},
        ),
        (
            {"mode": "worktree", "setup": ["a", "b"]},
            {"mode": "worktree", "setup": ["a", "b"], "copy": []},
        ),
    ],
)
def test_a_worktree_has_commands_that_set_it_up_and_files_that_are_copied(
    written: Any, workspace: dict[str, Any]
) -> None:
    assert spec_of({"workspace": written}).workspace == workspace


@pytest.mark.parametrize("promise", ["", "  ", "two\nlines", "DONE\n"])
def test_a_promise_is_some_words_on_one_line(promise: str) -> None:
    assert finding({"promise": promise}) == (
        f"promise = {promise!r} must be one line of text, for example 'DONE'."
    )


def test_a_promise_is_written_without_its_tag() -> None:
    assert finding({"promise": "<Promise>ALL FIXED</promise>"}) == (
        "promise = '<Promise>ALL FIXED</promise>' includes the tag. Write only the text: 'ALL FIXED'."
    )


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"agent": "claude", "agents": ["codex"]}, "`agent` and `agents` are both set. Keep one."),
        ({"task": "x", "task_file": "y"}, "`task` and `task_file` are both set. Keep one."),
    ],
)
def test_two_ways_to_say_one_thing_at_once_are_an_error(values: dict[str, Any], said: str) -> None:
    assert finding(values) == said


def test_options_for_one_of_several_agents_are_refused_with_where_to_write_them() -> None:
    assert finding({"agents": ["claude", "codex"]}, {"agent": {"model": "opus"}}) == (
        "`agent` and `agents` are both set. Move the options into `agents`."
    )


def test_options_without_an_agent_are_an_error() -> None:
    assert finding({"agent": {"model": "opus"}}).startswith("agent does not name a plugin.")


def test_the_strategy_that_options_alone_are_meant_for_is_the_default() -> None:
    assert spec_of({"strategy": {"base": 4}}).strategy == PartSpec(name="hybrid", options={"base": 4})


def test_the_same_agent_may_be_named_twice() -> None:
    spec = spec_of({"agents": ["claude", {"use": "claude", "model": "opus"}]})

    assert [(agent.name, agent.use) for agent in spec.agents] == [("claude", ""), ("claude#2", "claude")]


def test_the_task_that_was_asked_for_goes_before_the_one_in_the_spec() -> None:
    assert parse(layers_of({"task": "that"}), "  this\n").task == "this"
    assert parse(layers_of({"task": "that"}), None).task == "that"


@pytest.mark.parametrize("values", [{}, {"task": " "}])
def test_a_spec_without_a_task_says_how_to_give_one(values: dict[str, Any]) -> None:
    assert finding(values, task=None).startswith("There is no task. Give it as an argument, with -f FILE")


def test_a_task_that_is_not_text_is_refused() -> None:
    assert finding({}, task="caf\udce9") == "task has bytes that are not text. Write it as UTF-8."


def test_what_is_missing_may_come_later_but_what_is_wrong_is_wrong_at_once() -> None:
    check(layers_of({"gates": {"tests": {"stage": 2}}, "agent": {"model": "x"}}))
    check(layers_of({"limits": {"iterations": "unlimited", "time": "unlimited"}}))
    check(layers_of({"limits": {"unknown_cost": "estimate"}}))
    with pytest.raises(ConfigError, match=r"gates\.tests\.stage = 0"):
        check(layers_of({"gates": {"tests": {"stage": 0}}}))


WORDS = ("hybrid", "cmd:x", "webhook:", "fresh", "in-place", "worktree", "4h", "$5", "2M", "unlimited", "")
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.dates()
    | st.text(max_size=8)
    | st.characters()
    | st.sampled_from(WORDS)
)
INNER = st.sampled_from(
    [
        *Limits.__struct_fields__,
        *GateRules.__struct_fields__,
        *CommandTable.__struct_fields__,
        *("base", "mode", "setup", "claim", "a b", ""),
    ]
)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(INNER | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=10,
)
KEYS = st.sampled_from([*SpecFile.__struct_fields__, "profiles", "integrity", "agnet", ""])

PARTS = st.sampled_from(["hybrid", "cmd:./fix.sh", "./a.py:B"]).flatmap(
    lambda name: (
        st.just(name)
        | st.dictionaries(st.sampled_from("ab"), st.integers(0, 9)).map(lambda o: {"use": name, **o})
    )
)
LIMITS = st.fixed_dictionaries(
    {},
    optional={
        "iterations": st.integers(1, 99) | st.just("unlimited"),
        "time": st.sampled_from(["4h", 90, 0.5]),
        "cost": st.sampled_from(["$5", 2.5]),
        "tokens": st.just("2M"),
        "unknown_cost": st.sampled_from(["refuse", "ignore"]),
    },
)
GATES = st.dictionaries(
    st.sampled_from(["tests", "lint", "a b", "größe"]),
    st.fixed_dictionaries(
        {"run": st.sampled_from(["make", "x = 1"])},
        optional={
            "stage": st.integers(1, 3),
            "on_fail": st.sampled_from(["iterate", "stop", "ask"]),
            "timeout": st.sampled_from(["5m", "unlimited", 7]),
            "env": st.dictionaries(st.sampled_from("AB"), st.text(st.sampled_from("xy é"))),
        },
    )
    | st.fixed_dictionaries({"use": st.just("./a.py:B")}, optional={"word": st.integers(0, 9)}),
    max_size=3,
)
GOOD = st.fixed_dictionaries(
    {},
    optional={
        "task": st.just("x"),
        "agents": st.lists(PARTS, max_size=3),
        "strategy": PARTS,
        "detectors": st.lists(PARTS, max_size=2),
        "remedies": st.lists(st.sampled_from(RUNGS), max_size=3),
        "session": st.sampled_from(["fresh", "continue"]),
        "workspace": st.sampled_from(["in-place", {"mode": "in-place"}, {}, "worktree"]),
        "promise": st.sampled_from(["DONE", "all is well"]),
        "baseline": st.booleans(),
        "notify": st.lists(PARTS, max_size=2),
        "labels": st.dictionaries(st.text(st.sampled_from("ab é")), st.text(st.sampled_from("xy é"))),
        "limits": LIMITS,
        "gates": GATES,
    },
)


@given(GOOD, GOOD)
def test_a_good_spec_over_a_good_spec_is_good_and_survives_the_journal(
    below: dict[str, Any], above: dict[str, Any]
) -> None:
    gates = {**below.get("gates", {}), **above.get("gates", {})}
    spec = spec_of({**below, "gates": {}}, {**above, "gates": gates})

    assert [gate.name for gate in spec.gates] == list(gates)
    assert len({agent.name for agent in spec.agents}) == len(spec.agents)
    assert msgspec.json.decode(msgspec.json.encode(spec), type=Spec) == spec


@given(
    GOOD, st.dictionaries(KEYS | st.text(max_size=5), ANYTHING, max_size=3), st.none() | st.text(max_size=5)
)
def test_whatever_is_written_gives_a_spec_or_a_clear_error(
    below: dict[str, Any], above: dict[str, Any], task: str | None
) -> None:
    said = ""
    try:
        parse(layers_of(below, above), task)
    except ConfigError as error:
        said = str(error)
    assert said[-1:] in ("", ".", "?")
