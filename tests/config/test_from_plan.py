"""A plan written as a spec gives the same plan."""

from pathlib import Path

import pytest

from untilgreen.config.from_plan import values_of
from untilgreen.config.load import Given, Request, load
from untilgreen.engine.wiring.plan import plan_of

SPECS = {
    "smallest": 'task = "x"\nagent = "cmd:./fix.sh"\n[gates.t]\nrun = "true"\n',
    "agents": """
        task = "two\\nlines"
        agents = ["cmd:a b", "cmd:a b", { use = "claude", model = "x" }]
        detectors = ["noop", { use = "cycle", repeats = 4 }]
        notify = ["bell", "command:say it"]
        strategy = { use = "fixed", iterations = 7 }
        remedies = ["hint"]
        [gates.t]
        run = "true"
    """,
    "rules": """
        task = "x"
        agent = "cmd:a"
        promise = "ALL WELL"
        session = "continue"
        leave = "last"
        on_interrupt = "rewind"
        wait = "forever"
        permissions = "all"
        baseline = false
        labels = { team = "a" }
        workspace = { mode = "worktree", setup = "make", copy = [".env"] }
        [limits]
        iterations = "unlimited"
        time = "2h"
        cost = "$5"
        lap = "unlimited"
        silence = "5m"
        unknown_cost = "estimate"
        token_price = "$3"
        [gates."odd name"]
        run = "true"
        stage = 3
        required = false
        on_fail = "ask"
        when = "changed"
        timeout = "unlimited"
        retries = 2
        max_attempts = 4
        report = "out.xml"
        env = { A = "b" }
        [gates.look]
        kind = "approval"
        people = ["ann"]
        [integrity]
        protect = ["spec/**"]
        allow = ["spec/new.py"]
    """,
    "ralph": 'task = "x"\nagent = "cmd:a"\nstrategy = { use = "ralph", min = 2 }\nintegrity.enabled = false\n'
    '[gates.t]\nrun = "true"\n',
}


@pytest.mark.parametrize("name", SPECS)
def test_a_plan_as_a_spec_is_the_same_plan(tmp_path: Path, name: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "untilgreen.toml").write_text(SPECS[name])
    plan = plan_of(load(Request(start=tmp_path)), tmp_path)
    (tmp_path / "untilgreen.toml").write_text("nonsense")
    given = Given(values=values_of(plan), name="run abc", base=tmp_path)

    again = plan_of(load(Request(start=tmp_path, given=given)), tmp_path)

    assert again == plan


def test_an_error_in_a_flag_names_the_command_line_and_one_in_the_run_names_the_run(
    tmp_path: Path,
) -> None:
    (tmp_path / "untilgreen.toml").write_text(SPECS["smallest"])
    plan = plan_of(load(Request(start=tmp_path)), tmp_path)
    given = Given(values={**values_of(plan), "leave": "all"}, name="run abc", base=tmp_path)

    with pytest.raises(Exception, match=r"^run abc: leave can't be 'all'"):
        load(Request(start=tmp_path, given=given))
    with pytest.raises(Exception, match=r"^command line: leave can't be 'none'"):
        load(Request(start=tmp_path, given=given, flags={"leave": "none"}))
