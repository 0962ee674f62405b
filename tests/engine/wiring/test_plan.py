"""From a spec to a plan, from which any machine can create the objects of a run."""

import shutil
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import msgspec
import pytest

from untilgreen.agents.command import CommandAgent
from untilgreen.config.load import Loaded, Request, load
from untilgreen.config.spec.schema import SpecFile
from untilgreen.core.defaults import DETECTORS
from untilgreen.core.detectors.similar import Similar
from untilgreen.core.loop.remedies import RUNGS
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.values.model import GateSpec, PartSpec, Plan, Promise
from untilgreen.engine.operations.worst_case import worst_case
from untilgreen.engine.wiring.objects import agents_of, gates_of, notifiers_of, objects_of, policy_of
from untilgreen.engine.wiring.plan import objects_for, plan_of
from untilgreen.engine.wiring.plugin_copies import copies_in, copy_files, files_to_copy
from untilgreen.engine.wiring.start_notes import start_notes
from untilgreen.engine.wiring.workplace import base_of, start_of
from untilgreen.errors import ConfigError, JournalError, UnknownPlugin, UserError
from untilgreen.gates.command import CommandGate

SMALLEST = """\
task = "Make it green"
agent = "cmd:./fix.sh"
[gates.tests]
run = "true"
"""

PLUGINS = """
    from untilgreen import Continue, Reply, Verdict

    WHO = "the first"


    class Rule:
        def __init__(self, patience: int = 3):
            self.patience = patience

        def decide(self, state, signals):
            return Continue(reason=WHO)


    class Eye:
        def detect(self, state):
            return None


    class Worker:
        async def work(self, brief, desk):
            return Reply(text=WHO)


    class Check:
        def __init__(self, word: str = "TODO"):
            self.word, self.who = word, WHO

        async def check(self, workspace):
            return Verdict(status="pass")


    class LoadedRun:
        async def notify(self, event, state):
            return None
"""

FROM_FILE = """\
task = "Make it green"
strategy = { use = "./parts/plugins.py:Rule", patience = 5 }
detectors = ["./parts/plugins.py:Eye"]
agents = ["./parts/plugins.py:Worker"]
notify = ["./parts/plugins.py:LoadedRun"]
gates.todos = { use = "./parts/plugins.py:Check", word = "FIXME" }
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "parts").mkdir()
    (folder / "parts" / "plugins.py").write_text(dedent(PLUGINS))
    return folder


def loaded(project: Path, text: str, **asked: Any) -> Loaded:
    (project / "untilgreen.toml").write_text(text)
    return load(Request(start=project, **asked))


def planned(project: Path, text: str = SMALLEST, **asked: Any) -> Plan:
    return plan_of(loaded(project, text, **asked), project)


def test_a_small_spec_becomes_a_plan_with_all_defaults(project: Path) -> None:
    assert planned(project) == Plan(
        task="Make it green",
        gates=(
            GateSpec(name="tests", options={"run": "true"}, shown_as="true", origin="built-in"),
            GateSpec(
                name="integrity",
                kind="integrity",
                options={
                    **{"protect": [], "allow": [], "editable": [], "originals": True},
                    **{"clean_room": True, "keep": [], "setup": [], "unproven": "ask"},
                },
                stage=2,
                on_fail="ask",
                timeout=9720.0,
            ),
        ),
        agents=(
            PartSpec(name="cmd:./fix.sh", use="command", origin="built-in", options={"command": "./fix.sh"}),
        ),
        strategy=PartSpec(name="hybrid", origin="built-in"),
        strategy_laps=20,
        detectors=tuple(PartSpec(name=name, origin="built-in") for name in DETECTORS),
        remedies=RUNGS,
        workspace={"mode": "in-place", "base": str(project), "start": str(project)},
    )


HONORED: dict[str, tuple[str, Any]] = {
    "task": ("'Other'", lambda plan: plan.task == "Other"),
    "task_file": ("'PROMPT.md'", lambda plan: plan.task == "From a file"),
    "agent": ("'cmd:other'", lambda plan: plan.agent_names() == ("cmd:other",)),
    "agents": ("['cmd:a', 'cmd:b']", lambda plan: plan.agent_names() == ("cmd:a", "cmd:b")),
    "strategy": (
        "{ use = 'fixed', iterations = 7 }",
        lambda plan: policy_of(plan, objects_of(plan)).strategy == Fixed(iterations=7),
    ),
    "detectors": ("['similar']", lambda plan: policy_of(plan, objects_of(plan)).detectors == (Similar(),)),
    "remedies": ("['ask']", lambda plan: plan.remedies == ("ask",)),
    "session": ("'continue'", lambda plan: plan.session == "continue"),
    "workspace": ("{ mode = 'in-place' }", lambda plan: plan.workspace["mode"] == "in-place"),
    "sandbox": ("'bwrap'", lambda plan: plan.sandbox.mode == "bwrap"),
    "permissions": ("'all'", lambda plan: plan.permissions == "all"),
    "leave": ("'last'", lambda plan: plan.leave == "last"),
    "on_interrupt": ("'rewind'", lambda plan: plan.on_interrupt == "rewind"),
    "wait": ("'forever'", lambda plan: plan.wait == "forever"),
    "promise": ("'YES'", lambda plan: plan.promise == Promise(text="YES")),
    "baseline": ("false", lambda plan: plan.baseline is False),
    "notify": (
        "['./parts/plugins.py:LoadedRun']",
        lambda plan: len(notifiers_of(plan, objects_of(plan))) == 1,
    ),
    "labels": ("{ order = '17' }", lambda plan: plan.labels == {"order": "17"}),
    "limits": ("{ cost = '$5' }", lambda plan: plan.limits.cost == 5.0),
    "gates": (
        "{ lint = { run = 'make lint' } }",
        lambda plan: [gate.name for gate in plan.gates] == ["lint", "integrity"],
    ),
    "integrity": (
        "{ protect = ['golden/**'], allow = ['tests/new.py'], editable = ['src/**'] }",
        lambda plan: (
            [plan.gate("integrity").options[key] for key in ("protect", "allow", "editable")]
            == [["golden/**"], ["tests/new.py"], ["src/**"]]
        ),
    ),
    "clean_room": (
        "{ keep = ['.env'], setup = 'npm ci', unproven = 'accept' }",
        lambda plan: (
            [plan.gate("integrity").options[key] for key in ("keep", "setup", "unproven")]
            == [[".env"], ["npm ci"], "accept"]
        ),
    ),
}


def test_the_test_below_knows_every_key() -> None:
    assert set(HONORED) == set(SpecFile.__struct_fields__)


@pytest.mark.parametrize("key", sorted(HONORED))
def test_every_key_of_the_spec_changes_the_plan(project: Path, key: str) -> None:
    (project / "PROMPT.md").write_text("From a file\n")
    written, honored = HONORED[key]
    instead = {"task_file": "task", "agents": "agent"}.get(key, key)
    rest = {"task": "'Make it green'", "agent": "'cmd:./fix.sh'", "gates": "{ tests = { run = 'true' } }"}
    rest.pop(instead, None)
    text = "".join(f"{name} = {value}\n" for name, value in {**rest, key: written}.items())

    assert honored(planned(project, text))
    if key != "workspace":
        assert not honored(planned(project))


@pytest.mark.parametrize(
    ("key", "written"),
    [
        ("required", False),
        ("stage", 3),
        ("on_fail", "stop"),
        ("when", "changed"),
        ("timeout", 90.0),
        ("retries", 2),
        ("max_attempts", 4),
    ],
)
def test_every_rule_of_a_gate_is_in_the_plan(project: Path, key: str, written: Any) -> None:
    flags = {"gates": {"tests": {key: written}}, "promise": "DONE"}

    assert getattr(planned(project, flags=flags).gate("tests"), key) == written


def test_every_option_of_a_command_reaches_the_gate(project: Path) -> None:
    text = SMALLEST + "report = 'junit.xml'\nexpect = 3\nenv = { CI = '1' }\ncwd = 'web'\n"

    plan = planned(project, text)
    gates = gates_of(plan, objects_of(plan))

    assert gates == {"tests": CommandGate("true", report="junit.xml", expect=3, env={"CI": "1"}, cwd="web")}


def test_a_promise_is_one_more_gate_without_an_object(project: Path) -> None:
    plan = planned(project, "promise = 'DONE'\n" + SMALLEST + "stage = 4\n")

    assert [(gate.name, gate.stage, gate.required) for gate in plan.gates] == [
        ("tests", 4, True),
        ("integrity", 5, True),
        ("claim", 6, True),
    ]
    assert list(gates_of(plan, objects_of(plan))) == ["tests"]


def test_ralph_brings_a_promise_and_tunes_the_detector(project: Path) -> None:
    text = "strategy = { use = 'ralph', min = 2, tokens = true, window = 4, similarity = 0.8 }\n" + SMALLEST

    plan = planned(project, text)

    assert plan.promise == Promise(text="DONE", min=2, tokens=True)
    assert Similar(similarity=0.8, window=4) in policy_of(plan, objects_of(plan)).detectors


def test_the_flag_for_laps_bounds_the_strategy_that_is_made(project: Path) -> None:
    plan = planned(project, max_iterations="5")

    assert policy_of(plan, objects_of(plan)).strategy == Hybrid(base=5, bonus=0)
    assert plan.limits.iterations == 5


@pytest.mark.parametrize(
    ("more", "laps"),
    [
        ("strategy = { use = 'fixed', iterations = 30 }", 30),
        ("strategy = { use = 'ralph', max = 50 }", 50),
        ("strategy = { use = 'hybrid', base = 30 }", 42),
        ("strategy = { use = 'fixed', iterations = 3 }", 20),
        ("strategy = { use = 'fixed', iterations = 30 }\nlimits = { iterations = 5 }", 5),
        ("strategy = { use = 'fixed', iterations = 30 }\nlimits = { time = '1h' }", 30),
        ("strategy = 'manual'", 20),
    ],
)
def test_a_strategy_that_asks_for_more_laps_raises_the_default_and_no_limit_that_was_set(
    project: Path, more: str, laps: int
) -> None:
    assert planned(project, f"{more}\n{SMALLEST}").limits.iterations == laps


@pytest.mark.parametrize(
    ("strategy", "laps"),
    [
        ("{ use = 'fixed', iterations = 3 }", 3),
        ("{ use = 'hybrid', base = 2, bonus = 1 }", 3),
        ("'manual'", 20),
    ],
)
def test_a_run_has_no_more_laps_than_its_strategy_allows(project: Path, strategy: str, laps: int) -> None:
    plan = planned(project, f"strategy = {strategy}\n{SMALLEST}")

    assert plan.most_laps == laps
    assert worst_case(plan).laps == laps


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            "strategy = { use = 'fixed', iterations = 30 }\nlimits = { iterations = 20 }",
            "strategy.iterations allows 30 laps and limits.iterations 20; "
            "the smaller applies: at most 20 laps.",
        ),
        (
            "strategy = { use = 'ralph', max = 1 }\nlimits = { iterations = 20 }",
            "strategy.max allows 1 lap and limits.iterations 20; the smaller applies: at most 1 lap.",
        ),
        ("strategy = { use = 'fixed', iterations = 30 }", ""),
        ("limits = { iterations = 5 }", ""),
        (
            "limits = { iterations = 30 }",
            "limits.iterations is 30, but the strategy hybrid ends after 20 laps. "
            "For more, set strategy.bonus.",
        ),
        ("strategy = { use = 'fixed', iterations = 5 }\nlimits = { iterations = 5 }", ""),
    ],
)
def test_where_both_were_set_the_smaller_number_of_laps_is_reported(
    project: Path, more: str, said: str
) -> None:
    spec = loaded(project, f"{more}\n{SMALLEST}")

    assert start_notes(spec, objects_for(spec)) == ([said] if said else [])


@pytest.mark.parametrize(
    ("agents", "more", "named"),
    [
        ("'claude', 'codex', 'cmd:./fix.sh'", "cost = '$5'", ["codex and cmd:./fix.sh"]),
        ("'claude', 'opencode'", "cost = '$5'", []),
        ("'codex'", "", []),
        ("'codex'", "cost = '$5'\nunknown_cost = 'ignore'", []),
    ],
)
def test_an_agent_that_may_not_say_its_cost_is_named_where_cost_is_limited(
    project: Path, agents: str, more: str, named: list[str]
) -> None:
    spec = loaded(project, f"task = 'x'\nagents = [{agents}]\ngates.tests.run = 'true'\n[limits]\n{more}\n")

    said = start_notes(spec, objects_for(spec))

    assert [each.partition(" may not say")[0] for each in said] == named
    assert all("limits.unknown_cost = 'ignore'" in each for each in said)


@pytest.mark.parametrize(
    ("agent", "more", "named"),
    [
        ("acp:goose", "tokens = '2M'", ["acp:goose"]),
        ("acp:opencode", "tokens = '2M'", ["acp:opencode"]),
        ("acp:copilot", "tokens = '2M'", []),
        ("goose", "tokens = '2M'", []),
        ("acp:goose", "", []),
    ],
)
def test_an_agent_that_reports_too_few_tokens_is_named_where_tokens_are_limited(
    project: Path, agent: str, more: str, named: list[str]
) -> None:
    spec = loaded(project, f"task = 'x'\nagent = '{agent}'\ngates.tests.run = 'true'\n[limits]\n{more}\n")

    said = start_notes(spec, objects_for(spec))

    assert [each.partition(" reports only the tokens")[0] for each in said] == named


def test_a_notifier_whose_program_is_missing_is_reported_before_the_run(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = loaded(project, f"notify = ['desktop']\n{SMALLEST}")
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (without,) = start_notes(spec, objects_for(spec))
    program = tmp_path / "bin" / ("osascript" if sys.platform == "darwin" else "notify-send")
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)

    assert without.startswith("notify = 'desktop' can't reach you: there is no ")
    assert start_notes(spec, objects_for(spec)) == []


def test_the_same_agent_twice_is_made_twice(project: Path) -> None:
    text = "task = 'x'\nagents = ['cmd:a', 'cmd:a']\ngates.tests.run = 'true'\n"

    plan = planned(project, text)
    agents = agents_of(plan, objects_of(plan))

    assert agents == {"cmd:a": CommandAgent("a"), "cmd:a#2": CommandAgent("a")}


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("strategy = 'hybird'", UnknownPlugin, "No strategy named 'hybird'. Did you mean 'hybrid'?"),
        ("strategy = 'cmd:x'", UserError, "cmd:x"),
        ("strategy = { use = 'fixed', iteration = 3 }", ConfigError, "Did you mean 'iterations'?"),
        (
            "strategy = { use = 'fixed', iterations = 0 }",
            ConfigError,
            "the option 'iterations' must be \"unlimited\" or a whole number, at least 1",
        ),
        ("strategy = { base = '3' }", ConfigError, "'base'"),
        ("detectors = ['cycel']", UnknownPlugin, "No detector named 'cycel'. Did you mean 'cycle'?"),
        ("notify = ['nobody-offers-this']", UnknownPlugin, "No notifier named 'nobody-offers-this'."),
        ("agent = 'nobody-offers-this'", UnknownPlugin, "No agent named 'nobody-offers-this'."),
        ("agent = 'cmd:'", ConfigError, "The agent command is empty."),
        ("gates.a.use = 'nobody-offers-this'", UnknownPlugin, "No gate named 'nobody-offers-this'."),
        ("gates.a = { use = './parts/plugins.py:Check', wrd = 'x' }", ConfigError, "Did you mean 'word'?"),
        ("gates.a.use = './parts/plugins.py:Chek'", UnknownPlugin, "Did you mean 'Check'?"),
        ("gates.a.use = './parts/plugin.py:Check'", UnknownPlugin, "Did you mean 'plugins.py'?"),
        ("gates.a = { run = 'x', report = 'report.txt' }", ConfigError, "'report.txt' has an unknown format"),
    ],
)
def test_a_wrong_name_or_option_is_reported_before_anything_starts(
    project: Path, text: str, kind: type[UserError], said: str
) -> None:
    rest = {"task": "'x'", "agent": "'cmd:x'", "gates.tests.run": "'true'"}
    lines = [f"{key} = {value}" for key, value in rest.items() if not text.startswith(f"{key} ")]

    with pytest.raises(kind) as caught:
        planned(project, "\n".join([*lines, text]))
    assert said in str(caught.value)


def test_without_an_agent_the_error_says_how_to_name_one(project: Path) -> None:
    with pytest.raises(ConfigError, match=r"^There is no agent\. Name one with --agent"):
        planned(project, "task = 'x'\ngates.tests.run = 'true'\n")


def test_without_a_gate_and_a_promise_nothing_could_end_the_run(project: Path) -> None:
    with pytest.raises(ConfigError, match=r"^There is no gate and no promise"):
        planned(project, "task = 'x'\nagent = 'cmd:x'\n")


def test_plugins_of_the_spec_are_found_next_to_it_from_wherever_the_run_starts(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (project / "src").mkdir()
    (project / "untilgreen.toml").write_text(FROM_FILE)
    monkeypatch.chdir(tmp_path)

    plan = plan_of(load(Request(start=project / "src")), project / "src")

    assert plan.strategy.origin == str(project / "parts" / "plugins.py")
    assert base_of(plan) == project
    assert start_of(plan) == project / "src"


def test_a_spec_that_was_named_from_elsewhere_keeps_its_place(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (project / "untilgreen.toml").write_text(FROM_FILE)
    monkeypatch.chdir(project)
    plan = plan_of(load(Request(start=tmp_path, config=Path("untilgreen.toml"))), tmp_path)
    monkeypatch.chdir(tmp_path)

    assert list(gates_of(plan, objects_of(plan))) == ["todos"]


def test_a_plan_survives_the_journal_with_all_that_is_made_from_it(project: Path) -> None:
    plan = planned(project, FROM_FILE)

    again = msgspec.json.decode(msgspec.json.encode(plan), type=Plan)

    assert again == plan
    assert type(policy_of(again, objects_of(again)).strategy).__name__ == "Rule"
    assert policy_of(again, objects_of(again)).strategy.patience == 5  # type: ignore[attr-defined]
    assert [type(each).__name__ for each in notifiers_of(again, objects_of(again))] == ["LoadedRun"]
    assert [type(each).__name__ for each in agents_of(again, objects_of(again)).values()] == ["Worker"]


def test_a_run_continues_with_the_code_it_began_with(project: Path, tmp_path: Path) -> None:
    plan = planned(project, FROM_FILE)
    copy_files(files_to_copy(plan), tmp_path / "code")
    (project / "parts" / "plugins.py").write_text(dedent(PLUGINS).replace("the first", "an impostor"))

    copied = gates_of(plan, objects_of(plan, copies_in(plan, tmp_path / "code")))["todos"]
    present = gates_of(plan, objects_of(plan))["todos"]

    assert (copied.who, copied.word) == ("the first", "FIXME")  # type: ignore[attr-defined]
    assert present.who == "an impostor"  # type: ignore[attr-defined]


def test_a_run_continues_when_the_original_is_gone(project: Path, tmp_path: Path) -> None:
    plan = planned(project, FROM_FILE)
    copy_files(files_to_copy(plan), tmp_path / "code")
    shutil.rmtree(project / "parts")

    copies = copies_in(plan, tmp_path / "code")

    assert list(gates_of(plan, objects_of(plan, copies))) == ["todos"]
    assert list(agents_of(plan, objects_of(plan, copies))) == ["./parts/plugins.py:Worker"]
    assert (
        len(policy_of(plan, objects_of(plan, copies)).detectors)
        == len(notifiers_of(plan, objects_of(plan, copies)))
        == 1
    )


def test_a_run_does_not_fall_back_to_code_that_an_agent_can_reach(project: Path, tmp_path: Path) -> None:
    plan = planned(project, FROM_FILE)
    copy_files(files_to_copy(plan), tmp_path / "code")
    for copy in (tmp_path / "code").iterdir():
        copy.unlink()

    with pytest.raises(JournalError, match="can't continue as it began"):
        copies_in(plan, tmp_path / "code")


@pytest.mark.parametrize("written", ["'./parts/plugins.py:Worker'", "{ use = './parts/plugins.py:Worker' }"])
def test_a_judge_gets_its_agent_and_keeps_its_code(project: Path, tmp_path: Path, written: str) -> None:
    plan = planned(project, SMALLEST + f"[gates.review]\nkind = 'judge'\nagent = {written}\n")
    copy_files(files_to_copy(plan), tmp_path / "code")
    shutil.rmtree(project / "parts")

    judge = gates_of(plan, objects_of(plan, copies_in(plan, tmp_path / "code")))["review"]

    assert type(judge.agent).__name__ == "Worker"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("'cmd:'", "The agent command is empty."),
        ("5", "gates.review.agent does not name a plugin."),
        ("'nobody-offers-this'", "No agent named 'nobody-offers-this'."),
    ],
)
def test_a_judge_without_a_usable_agent_is_reported_before_anything_starts(
    project: Path, written: str, said: str
) -> None:
    with pytest.raises(UserError) as caught:
        planned(project, SMALLEST + f"[gates.review]\nkind = 'judge'\nagent = {written}\n")
    assert said in str(caught.value)


def test_files_of_one_name_from_two_places_are_kept_apart(project: Path, tmp_path: Path) -> None:
    (project / "more").mkdir()
    (project / "more" / "plugins.py").write_text(dedent(PLUGINS).replace("the first", "the second"))
    text = FROM_FILE + "gates.more = { use = './more/plugins.py:Check' }\n"
    plan = planned(project, text)
    copy_files(files_to_copy(plan), tmp_path / "code")

    gates = gates_of(plan, objects_of(plan, copies_in(plan, tmp_path / "code")))

    assert [gate.who for gate in gates.values()] == ["the first", "the second"]  # type: ignore[attr-defined]


def test_a_plan_of_built_in_parts_has_no_code_to_copy(project: Path, tmp_path: Path) -> None:
    plan = planned(project)
    copy_files(files_to_copy(plan), tmp_path / "code")

    assert not (tmp_path / "code").exists()
    assert copies_in(plan, tmp_path / "code") == {}
