"""Every example in README and docs works as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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
def test_python_examples_run(code: str) -> None:
    exec(compile(code, "example", "exec"), {})


@pytest.mark.parametrize(
    "text", [text for _, text in blocks("toml")], ids=[name for name, _ in blocks("toml")]
)
def test_toml_examples_are_valid_specs(text: str, tmp_path: Path) -> None:
    from untilgreen.config.load import Request, load

    (tmp_path / "untilgreen.toml").write_text(text)

    assert load(Request(start=tmp_path)).spec.gates


def test_the_tutorial_works_from_its_first_line_to_its_last(tmp_path: Path) -> None:
    script = "\n".join(code for name, code in blocks("sh") if "tutorial" in name)
    script = script.replace("untilgreen check", "! untilgreen check", 1)

    seen = run_script(script, tmp_path)

    assert seen.count("converged: all required gates pass in lap 2") == 3
    assert "stuck: cycle in laps" in seen
    assert "+    return a + b" in seen


def test_the_page_about_setting_up_works_from_its_first_line_to_its_last(tmp_path: Path) -> None:
    seen = run_script("\n".join(code for name, code in blocks("sh") if "setup" in name), tmp_path)

    assert "red: exit code 1" in seen
    assert "converged: all required gates pass in lap 1" in seen
    assert (tmp_path / "shop" / "untilgreen.schema.json").exists()


@pytest.mark.parametrize("page", ["strategy", "detector", "gate"])
def test_a_page_about_extending_works_from_its_first_line_to_its_last(page: str, tmp_path: Path) -> None:
    """Blocks that begin with a file's name are that file; shell blocks are run in order."""
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
    """What a reader would see who types it."""
    env = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "UNTILGREEN_STATE_DIR": str(place.parent / f"{place.name}-state"),
        "HOME": str(place.parent / f"{place.name}-home"),
    }
    done = subprocess.run(
        ["/bin/sh", "-eu", "-c", script], cwd=place, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_every_link_in_the_docs_leads_somewhere() -> None:
    missing = [
        f"{page.name}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text())
        if not (page.parent / target).exists()
    ]

    assert missing == []
