"""Every example in README and docs works as shown."""

from __future__ import annotations

import os
import pkgutil
import re
import shlex
import subprocess
import sys
from contextlib import suppress
from operator import attrgetter
from pathlib import Path

import pytest

from untilgreen import Hybrid
from untilgreen.plugins.kinds import BUILT_IN
from untilgreen.testing import tell

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(language: str) -> list[tuple[str, str]]:
    return [
        (f"{page.relative_to(ROOT)}-{number}", match[2])
        for page in PAGES
        for number, match in enumerate(FENCE.finditer(page.read_text()), 1)
        if match[1] == language
    ]


@pytest.mark.parametrize(
    "code", [code for _, code in blocks("python")], ids=[name for name, _ in blocks("python")]
)
def test_python_examples_run(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNTILGREEN_STATE_DIR", str(tmp_path))  # not the developer's own runs
    exec(compile(code, "example", "exec"), {})


@pytest.mark.parametrize(
    "text", [text for _, text in blocks("toml")], ids=[name for name, _ in blocks("toml")]
)
def test_toml_examples_are_valid_specs(text: str, tmp_path: Path) -> None:
    from untilgreen.config.load import Request, load

    (tmp_path / "untilgreen.toml").write_text(text)

    assert load(Request(start=tmp_path)).spec.gates


def test_the_list_of_pages_has_every_page() -> None:
    listed = (ROOT / "docs" / "README.md").read_text()
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]

    missing = [page for page in pages if f"({page})" not in listed and not page.startswith("decisions/")]
    assert missing == ["README.md"]


def test_the_commands_of_the_first_night_exist(tmp_path: Path) -> None:
    night = [line for name, text in blocks("text") if "first-night" in name for line in text.splitlines()]
    ours = [line for line in night if line.startswith("untilgreen ")]
    verbs = {
        (words := shlex.split(line))[1]: [word for word in words if word.startswith("--")] for line in ours
    }

    helped = run_script("\n".join(f"untilgreen {verb} --help" for verb in verbs), tmp_path)

    assert len(ours) > 10
    assert [flag for flags in verbs.values() for flag in flags if flag not in helped] == []


def test_the_tutorial_works_from_its_first_line_to_its_last(tmp_path: Path) -> None:
    script = "\n".join(code for name, code in blocks("sh") if "tutorial" in name)
    script = script.replace("untilgreen check", "! untilgreen check", 1)

    seen = run_script(script, tmp_path)

    assert seen.count("converged: all required gates pass in lap 2") == 3
    assert "stuck: cycle in laps" in seen
    assert "+    return a + b" in seen


NOT_OURS = {
    "git clone <this repository> untilgreen && cd untilgreen": "the tests run in such a clone",
    "make demo": "sets a clone up, and then is `untilgreen demo`, which its own tests run",
    "uv tool install .": ".ci/install tries it, and pip and pipx, in a clean directory",
    "cd my-project": "the project is made below",
}
"""Commands in README that this test doesn't run, with the reason; a new command there has to be run."""


UNTIL_IT_SERVES = """serve --port 0 >address &
until grep -q '^http' address; do kill -0 $! && sleep 0.1; done
kill $! && { wait $! || test $? = 143; }"""
"""Used instead of `serve --open`, which would open a browser and run until it is stopped."""


def test_the_commands_of_the_readme_work(tmp_path: Path) -> None:
    """They run in a project that already has a run, with a command instead of the named agents."""
    agent, gate = "--agent 'cmd:touch done'", "--gate 'test -e done'"
    shown = [line for name, text in blocks("console") if "README" in name for line in text.splitlines()]
    commands = [line.removeprefix("$ ").partition("  #")[0].strip() for line in shown]
    assert [line for line in commands if not line.startswith("untilgreen ")] == list(NOT_OURS)
    commands = [line for line in commands if line not in NOT_OURS]
    known = {
        **{"--agent claude": agent, "--agent codex": agent, "'pytest -q'": "'test -e done'"},
        **{
            "install claude": "install claude --yes",
            "2pghq": "@last",
            "@last@3": "@last@1",
            "…": f"'Do it.' {agent} {gate}",
            "serve --open": UNTIL_IT_SERVES,
        },
    }
    who = "git config user.name N && git config user.email n@example.org"
    script = [f"git init -q . && {who} && git commit -q --allow-empty -m start"]
    script += [f"untilgreen run 'Do it.' {agent} {gate}"]
    waiting = f"rm -f done && untilgreen run 'Do it.' {agent} --gate false --strategy manual --no-input"
    for command in commands:
        meant = re.sub("|".join(map(re.escape, known)), lambda found: known[found[0]], command)
        verbs = meant.removeprefix("untilgreen ").split(" | ")
        several = [f"untilgreen {verb} --help" for verb in verbs]
        script += ["rm -f done"] if verbs[0].startswith("run") else []
        script += [f"{waiting} || test $? = 5"] if verbs[0].startswith("steer") else []
        script += several if len(verbs) > 1 else [meant]
        script += ["untilgreen cancel @last"] if verbs[0].startswith("steer") else []

    seen = run_script("\n".join(script), tmp_path)

    assert len(commands) > 15
    assert "converged: all required gates pass in lap 1" in seen
    assert "<!DOCTYPE html>" in seen or list(tmp_path.rglob("*.html"))


def test_the_page_about_setting_up_works_from_its_first_line_to_its_last(tmp_path: Path) -> None:
    seen = run_script("\n".join(code for name, code in blocks("sh") if "setup" in name), tmp_path)

    assert "red: exit code 1" in seen
    assert "converged: all required gates pass in lap 1" in seen
    assert (tmp_path / "shop" / "untilgreen.schema.json").exists()


@pytest.mark.parametrize("page", ["strategy", "detector", "gate", "notifier"])
def test_a_page_about_extending_works_from_its_first_line_to_its_last(page: str, tmp_path: Path) -> None:
    """Blocks whose first line is a file name are written to that file; shell blocks are run in order."""
    for match in FENCE.finditer((ROOT / "docs" / "extend" / f"{page}.md").read_text()):
        title, _, _ = match[2].partition("\n")
        if match[1] in ("python", "toml"):
            (tmp_path / title.removeprefix("# ")).write_text(match[2])
        elif match[1] == "sh":
            run_script(match[2], tmp_path)


def test_the_page_about_detection_works_from_its_first_line_to_its_last(tmp_path: Path) -> None:
    seen = run_script("\n".join(code for name, code in blocks("sh") if "detection" in name), tmp_path)

    assert (tmp_path / "decisions.jsonl").read_text().splitlines() == [
        '{"source":"mine","id":"one","stop":2,"restarts":[]}',
        '{"source":"mine","id":"two","stop":null,"restarts":[]}',
    ]
    assert seen.count("mine") == 2


def run_script(script: str, place: Path) -> str:
    """Run the script as a reader would, and return its output."""
    env = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "UNTILGREEN_STATE_DIR": str(place.parent / f"{place.name}-state"),
        "HOME": str(place.parent / f"{place.name}-home"),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    done = subprocess.run(
        ["/bin/sh", "-eu", "-c", script], cwd=place, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
    return done.stdout


IN_PROSE = sorted(
    {
        found
        for page in PAGES
        for found in re.findall(r"`untilgreen ([a-z][^`]*)`", re.sub(FENCE, "", page.read_text()))
    }
)


@pytest.mark.parametrize("written", IN_PROSE)
def test_every_command_in_a_sentence_is_one(written: str) -> None:
    """Commands at a prompt are run; those in sentences are only parsed, and may lack arguments."""
    from cyclopts import MissingArgumentError

    from untilgreen.surfaces.cli.main import make_app

    before_the_pipe, *_ = written.replace("SECONDS", "600").split(" | ")
    with suppress(MissingArgumentError):
        make_app().parse_args(shlex.split(before_the_pipe), exit_on_error=False, print_error=False)


IN_PYTHON = sorted(
    {
        found
        for page in PAGES
        for found in re.findall(
            r"`(?:async with |await )?(untilgreen(?:\.\w+)+)[`(]", re.sub(FENCE, "", page.read_text())
        )
        if found not in {"untilgreen.toml", *(f"untilgreen.{kind}" for kind in BUILT_IN)}  # groups of plugins
    }
)


@pytest.mark.parametrize("written", IN_PYTHON)
def test_every_name_of_the_library_in_a_sentence_is_one(written: str) -> None:
    assert pkgutil.resolve_name(written) is not None


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as links name them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def test_every_link_in_the_docs_leads_somewhere() -> None:
    missing = [
        f"{page.name}: {target}"
        for page in {*PAGES, *ROOT.glob("*.md")}
        for target in re.findall(r"\]\(([^):]+)\)", page.read_text())
        for name, _, anchor in (target.partition("#"),)
        for place in (page.parent / name if name else page,)
        if not place.exists() or (anchor and anchor not in anchors(place))
    ]

    assert missing == []


def test_every_field_that_strategies_can_read_exists() -> None:
    *_, state = (state for state, _ in tell("a a -", Hybrid()))
    page = (ROOT / "docs" / "extend" / "strategy.md").read_text()
    _, _, tables = page.partition("## What a strategy can read")
    known = {"state": state, "lap": state.laps[-1]}
    paths = re.findall(r"`(state|lap)\.([a-z_.]+)`", tables)
    best = re.search(r"the best lap: (.*) \|", tables)

    assert best is not None
    paths += [("state", f"best.{field}") for field in re.findall(r"`(\w+)`", best[1])]
    assert len(paths) > 30
    for name, path in paths:
        attrgetter(path)(known[name])


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("reference/spec.md", ("`[session]`", "`[workspace]`", "`[sandbox]`", "never accepted", '"$20"')),
        ("extend/strategy.md", ("`*`", "`=`", "`!`", "`?`", "tell(", "Play(", "velocity", "show --json")),
        ("in-session.md", ("/untilgreen start", "/untilgreen answer 1", "--take", "session state")),
        ("in-session.md", ("A permission prompt halts the loop", "--permission-mode acceptEdits")),
        ("strategies.md", ("`review`", "untilgreen answer @last")),
        ("api.md", ("registry.register", "registry.create", "registry.list", "registry.has")),
    ],
)
def test_what_works_can_be_found(page: str, words: tuple[str, ...]) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")

    assert [word for word in words if word not in text] == []


def test_the_picture_is_the_live_view_of_a_run(tmp_path: Path) -> None:
    pictures, drawn = ROOT / "docs" / "pictures", tmp_path / "drawn.svg"
    subprocess.run(
        [sys.executable, pictures / "make.py", drawn], check=True, capture_output=True, timeout=100
    )

    assert words_of(pictures / "demo.svg") == words_of(drawn), "draw it again with: make picture"


def words_of(picture: Path) -> list[str]:
    """The texts of a picture, without the run's id and durations."""
    texts = re.findall("<text[^>]*>(.*?)</text>", picture.read_text().replace("&#160;", " "))
    taken = re.compile(r"(?:\d+m)?\d+(?:\.\d+)?s\b\s*")
    ids = re.compile(r"^[0-9a-z]{9}$")
    return [ids.sub("RUN", taken.sub("TIME ", text)).strip() for text in texts]
