"""plan: what a run would do and cost, shown before any money is spent."""

from typing import Any

import pytest

from tests.surfaces.cli.helpers import UNITTEST, Cli, write


def test_it_shows_sources_command_line_baseline_and_worst_case_and_starts_no_agent(calc: Cli) -> None:
    agent = calc.agent("touch ran\n")

    done = calc(*("plan", "Mend it.", "-a", agent, "-g", UNITTEST), "--max-cost", "5", "--max-time", "1h")

    assert done.code == 0, done.err
    assert 'limits.cost = "5"' in done.out
    assert "# command line" in done.out
    assert f"  {agent}: {calc.tmp}/agent.sh\n    brief: on stdin\n" in done.out
    assert "✕ tests failed: test_calc.Adding.test_two_numbers" in done.out
    assert "laps    20\n" in done.out
    assert "time    1h; up to " in done.out
    assert "money   $5.00 plus whatever the last lap overshoots\n" in done.out
    assert "tokens  no limit; set --max-tokens\n" in done.out
    assert not (calc.place / "ran").exists()
    assert calc.ids == []


def test_a_green_project_has_nothing_to_do_unless_a_claim_is_asked_for(cli: Cli) -> None:
    flags = ("plan", "Mend it.", "-a", "cmd:true", "-g", "true")

    assert "a run would end at once" in cli(*flags).out
    assert "a run would end at once" not in cli(*flags, "--promise", "DONE").out


def test_a_gate_that_waits_for_an_earlier_stage_is_named(cli: Cli) -> None:
    write(cli.place, {"untilgreen.toml": '[gates.a]\nrun = "false"\n[gates.b]\nrun = "true"\nstage = 2\n'})

    told = cli("plan", "Fix it.", "-a", "cmd:true", "--trust").out

    assert "b not run: a gate of an earlier stage fails\n" in told


def test_a_gate_that_cant_run_is_reported_before_money_is_spent(cli: Cli) -> None:
    done = cli("plan", "Mend it.", "-a", "cmd:true", "-g", "no-such-program-here")

    assert done.code == 6
    assert "Fix it first" in done.out


def test_an_agent_that_is_not_installed_is_reported(cli: Cli) -> None:
    write(cli.place, {"here.sh": "#!/bin/sh\n"})
    (cli.place / "here.sh").chmod(0o755)
    agents = ("-a", "cmd:./here.sh --fast {prompt}", "-a", "cmd:no-such-agent -p")

    lines = cli("plan", "Mend it.", *agents, "-g", "true", "--json").lines

    told = [line for line in lines if line["type"] == "agent"]
    assert [(line["command"], line["found"]) for line in told] == [
        (["./here.sh", "--fast", "{prompt}"], True),
        (["no-such-agent", "-p"], False),
    ]
    assert "not installed; install it" in cli("plan", "Mend it.", *agents, "-g", "true").out


def test_a_spec_is_trusted_before_its_gates_run(cli: Cli) -> None:
    write(cli.place, {"untilgreen.toml": 'agent = "cmd:true"\n[gates.t]\nrun = "touch ran"\n'})

    assert cli("plan", "Mend it.").code == 2
    assert not (cli.place / "ran").exists()


def test_a_known_agent_is_shown_with_its_exact_command_line_and_what_it_may_do(cli: Cli) -> None:
    def agent(*flags: str) -> dict[str, Any]:
        lines = cli("plan", "Mend it.", "-a", "claude", "-g", "tests=make test", *flags, "--json").lines
        (line,) = [line for line in lines if line["type"] == "agent"]
        return line

    usual, everything = agent(), agent("--yolo", "--set", "agent.model=opus")

    assert usual["command"][:2] == ["claude", "--print"]
    assert "Bash(make test)" in " ".join(usual["command"])
    assert usual["permissions"] == "edit files, and run: make test"
    assert "bypassPermissions" in everything["command"]
    assert everything["command"][everything["command"].index("--model") + 1] == "opus"
    assert everything["permissions"] == "everything (--yolo)"


FENCED = "edit files, and run: make test"
AGENTS = {
    "claude": ("acceptEdits", "bypassPermissions", FENCED),
    "codex": (
        'sandbox_mode="workspace-write"',
        "--dangerously-bypass-approvals-and-sandbox",
        "write in the workspace, and run any command in its own sandbox, without network",
    ),
    "opencode": ('"make test":"allow"', "--auto", FENCED),
    "gemini": ("run_shell_command(make test)", "yolo", FENCED),
    "aider": ("--no-suggest-shell-commands", "--yes-always", "edit files, and run no commands"),
    "qwen": ("run_shell_command(make test)", "yolo", FENCED),
    "copilot": ("shell(make test)", "--allow-all", FENCED),
    "goose": ("--instructions", "GOOSE_MODE=auto", "nothing: it has no rules for single commands"),
}
"""A part of the command line or variables by default, one with --yolo, and what the default permits."""


def test_every_agent_is_shown_with_its_exact_command_line_and_what_it_may_do(cli: Cli) -> None:
    def agents(*flags: str) -> dict[str, tuple[str, str]]:
        named = [word for name in AGENTS for word in ("-a", name)]
        lines = cli("plan", "Mend it.", *named, "-g", "tests=make test", *flags, "--json").lines
        told = [line for line in lines if line["type"] == "agent"]
        return {
            line["name"]: (
                " ".join(
                    [*line["command"], *(f"{key}={value}" for key, value in line.get("env", {}).items())]
                ),
                line["permissions"],
            )
            for line in told
        }

    usual, everything = agents(), agents("--yolo")

    assert set(usual) == set(everything) == set(AGENTS)
    for name, (kept, free, permissions) in AGENTS.items():
        assert usual[name][0].startswith(f"{name} ")
        assert kept in usual[name][0]
        assert free in everything[name][0]
        assert usual[name][1].startswith(permissions)
        assert everything[name][1] == "everything (--yolo)"
        if name != "goose":
            assert usual[name][0] != everything[name][0]


@pytest.mark.parametrize(
    ("agent", "command", "permissions"),
    [
        ("acp:gemini", ["gemini", "--acp"], FENCED),
        ("acp:goose", ["goose", "acp"], FENCED),
        ("acp:codex", ["codex-acp"], "write in the workspace, and run any command in its own sandbox"),
        (
            "acp:./mine --acp",
            ["./mine", "--acp"],
            f"{FENCED}, where it asks first; untilgreen denies the rest",
        ),
    ],
)
def test_an_agent_over_acp_is_shown_with_its_server_and_what_it_may_do(
    cli: Cli, agent: str, command: list[str], permissions: str
) -> None:
    lines = cli("plan", "Mend it.", "-a", agent, "-g", "tests=make test", "--json").lines
    (line,) = [line for line in lines if line["type"] == "agent"]

    assert (line["command"], line["brief"]) == (command, "over ACP")
    assert line["permissions"].startswith(permissions)


def test_variables_that_grant_permissions_are_shown_to_people_too(cli: Cli) -> None:
    out = cli("plan", "Mend it.", "-a", "opencode", "-g", "tests=make test").out

    assert "    OPENCODE_PERMISSION='{" in out


def test_it_begins_with_the_agent_and_hides_defaults_unless_asked(cli: Cli) -> None:
    flags = ("plan", "Fix it.", "-a", "cmd:true", "-g", "true")

    brief, whole = cli(*flags).out, cli(*flags, "--all").out

    titles = [brief.index(title) for title in ("Agent\n", "\nGates,", "\nLimits\n", "\nSettings (--all")]
    assert titles == sorted(titles)
    assert titles[0] == 0
    assert "on_interrupt" not in brief
    assert "on_interrupt" in whole
