"""Plugins in the workspace: found, copied before the first lap, and named when they fail."""

import pytest

from tests.surfaces.cli.helpers import NO_OP, Cli, Invoke, write

NO_TODOS = '''\
from dataclasses import dataclass

from untilgreen import Finding, Verdict


@dataclass(frozen=True)
class NoTodos:
    """Fails while any file still says TODO."""

    word: str = "TODO"

    async def check(self, workspace):
        texts = {path.name: path.read_text() for path in sorted(workspace.root.glob("*.txt"))}
        hits = tuple(Finding(id=name) for name, text in texts.items() if self.word in text)
        return Verdict(status="fail" if hits else "pass", findings=hits)
'''
BLIND = "class NoTodos:\n    async def check(self, workspace):\n        raise SystemExit('never reached')\n"
GATE_SPEC = '[gates.todos]\nuse = "./checks/gate.py:NoTodos"\n'
BAD = '''\
class Bad:
    """A strategy that does not work."""

    def decide(self, state, signals):
        raise ZeroDivisionError("one lap too many")
'''


def test_a_gate_that_the_agent_rewrites_in_the_middle_of_a_run_changes_nothing(cli: Cli) -> None:
    files = {"checks/gate.py": NO_TODOS, "untilgreen.toml": GATE_SPEC, "work.txt": "TODO\n"}
    write(cli.place, {**files, "blind.py": BLIND})
    cheat = cli.agent("cat > /dev/null\ncp blind.py checks/gate.py\n")

    limited = ("--max-iterations", "2", "--json")
    done = cli("run", "Mend it.", "--trust", "--agent", cheat, *limited)

    assert done.code == 3
    findings = [lap["verdicts"]["todos"]["findings"] for lap in done.result["history"]]
    assert [[finding["id"] for finding in found] for found in findings] == [["work.txt"], ["work.txt"]]


def test_a_run_continues_with_the_gate_that_it_began_with(cli: Cli) -> None:
    write(cli.place, {"checks/gate.py": NO_TODOS, "untilgreen.toml": GATE_SPEC, "work.txt": "TODO\n"})
    write(cli.place, {"absent.sh": "#!/bin/sh\nrm absent.sh\n"})
    (cli.place / "absent.sh").chmod(0o755)
    assert cli("run", "Mend it.", "--trust", "--agent", "cmd:./absent.sh").code == 4
    write(
        cli.place,
        {"checks/gate.py": "raise SystemExit('gone')\n", "absent.sh": "#!/bin/sh\necho > work.txt\n"},
    )
    (cli.place / "absent.sh").chmod(0o755)

    assert cli("resume").code == 0


def test_an_agent_that_raises_ends_the_run_with_70_and_the_reason(cli: Cli) -> None:
    agent = "class Bad:\n    async def work(self, brief, desk):\n        raise ZeroDivisionError('by me')\n"
    write(cli.place, {"agents.py": agent})
    done = cli("run", "Mend it.", "-a", "./agents.py:Bad", "-g", "false")

    assert done.code == 70
    assert "ZeroDivisionError: by me" in done.err
    assert cli("resume").code == 70


def test_a_strategy_that_raises_ends_the_run_with_70_and_is_named(cli: Cli) -> None:
    write(cli.place, {"rules.py": BAD})
    bad = ("--strategy", "./rules.py:Bad")

    run = ("run", "Mend it.", "--agent", cli.agent(NO_OP), "--gate", "false", *bad)
    done, told = cli(*run), cli(*run, "--json")

    assert (done.code, told.code) == (70, 70)
    assert "Strategy Bad raised ZeroDivisionError" in done.err
    assert "after lap 1: one lap too many" in done.err
    assert "crashed: Strategy Bad raised" in done.out
    assert "Traceback" not in done.err
    assert (told.result["outcome"], told.result["exit_code"]) == ("crashed", 70)


def test_a_plugin_that_is_not_there_is_refused_before_anything_starts(cli: Cli, invoke: Invoke) -> None:
    write(cli.place, {"rules.py": BAD, "broken.py": "def (\n", "empty.py": "class Bad: pass\n"})
    run = ("run", "Mend it.", "--agent", "cmd:true", "--gate", "false", "--strategy")
    names = ("./rules.py:Bda", "./absent.py:Bad", "./broken.py:Bad", "./empty.py:Bad")

    answers = {name: invoke(*run, name) for name in names}

    assert {done.code for done in answers.values()} == {2}
    assert "Did you mean 'Bad'?" in answers["./rules.py:Bda"].err
    assert "absent.py" in answers["./absent.py:Bad"].err
    assert "broken.py" in answers["./broken.py:Bad"].err
    assert "makes a 'Bad' without the method 'decide'" in answers["./empty.py:Bad"].err
    assert not any("Traceback" in done.err for done in answers.values())
    assert cli.ids == []


def test_plugins_lists_what_can_be_used_by_name(cli: Cli, invoke: Invoke) -> None:
    shown, told = invoke("plugins"), invoke("plugins", "--json")

    version, *plugins = told.lines
    assert (shown.code, told.code, version["type"]) == (0, 0, "version")
    strategies = {plugin["name"] for plugin in plugins if plugin["kind"] == "strategy"}
    assert strategies >= {"fixed", "hybrid", "ralph", "adaptive", "manual"}
    assert "hybrid" in shown.out


def test_plugins_check_holds_a_strategy_to_the_laws(cli: Cli) -> None:
    patient = """\
from untilgreen import Continue

class Patient:
    def decide(self, state, signals):
        return Continue(reason="why not")
"""
    write(cli.place, {"rules.py": BAD + "\n\n" + patient})

    good, bad = cli("plugins", "check", "./rules.py:Patient"), cli("plugins", "check", "./rules.py:Bad")

    assert good.code == 0, good
    assert bad.code == 2
    assert "Bad" in bad.err
    assert "Traceback" not in bad.err


@pytest.mark.parametrize(
    ("method", "said_about_it"),
    [
        ("async def check(self, workspace): ...", "./own.py:Own is a gate."),
        ("async def work(self, brief, context): ...", "./own.py:Own is an agent."),
        ("async def notify(self, event, state): ...", "./own.py:Own is a notifier."),
        ("def detect(self, state): return None", "./own.py:Own is a detector that obeys every law."),
    ],
)
def test_plugins_check_recognizes_a_plugin_by_its_methods(
    cli: Cli, invoke: Invoke, method: str, said_about_it: str
) -> None:
    write(cli.place, {"own.py": f"class Own:\n    {method}\n"})

    assert invoke("plugins", "check", "./own.py:Own").out == f"{said_about_it}\n"


def test_a_plugin_that_fails_in_a_scripted_run_is_not_called_a_bug_of_ours(cli: Cli, invoke: Invoke) -> None:
    write(
        cli.place, {"own.py": "class Own:\n    def detect(self, state): return state.nothing_of_the_sort\n"}
    )

    done = invoke("plugins", "check", "./own.py:Own")

    assert done.code == 2
    assert "./own.py:Own failed in a scripted run: AttributeError: " in done.err


def test_a_class_without_a_plugin_method_is_answered_with_all_of_them(cli: Cli, invoke: Invoke) -> None:
    write(cli.place, {"own.py": "class Own:\n    pass\n"})

    done = invoke("plugins", "check", "./own.py:Own")

    assert done.code == 2
    assert "decide (strategy), detect (detector), check (gate), work (agent), notify (notifier)" in done.err
