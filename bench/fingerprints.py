"""How well tools and failures are recognized in real output, on a directory of recorded outputs.

`python bench/fingerprints.py [DATA_DIR]`. The directory contains `tool_outputs/` with an `index.jsonl` of
`{file, tool, kind}`, and `failure-pairs-dev.jsonl` of `{a, b, same}`. Bars: the tool is right for 90 % of the
outputs of known tools, 90 % of the failing outputs give findings, and equal fingerprints mean equal failures
with a precision of 95 % and a recall of 90 %.
"""

from __future__ import annotations

import json
import sys
from hashlib import blake2b
from pathlib import Path
from typing import Any

from untilgreen.core.values.fingerprint import fingerprint
from untilgreen.gates.output.parsers import file_line
from untilgreen.gates.output.recognize import recognize

NAMED = {
    "cargo-test": "cargo-test",
    "django-aider": "unittest",
    "django-runtests": "unittest",
    "eslint": "eslint",
    "eslint-json": "eslint",
    "gcc": "gcc",
    "gcc-make": "gcc",
    "go-test": "go-test",
    "go-test-json": "go-test",
    "javac-maven": "maven",
    "jest": "jest",
    "maven": "maven",
    "mocha": "mocha",
    "mypy": "mypy",
    "phpunit": "phpunit",
    "pytest": "pytest",
    "pytest-aider": "pytest",
    "rspec": "rspec",
    "ctest": "ctest",
    "ruff": "ruff",
    "tox-pytest": "pytest",
    "tsc": "tsc",
    "unittest": "unittest",
    "vitest": "vitest",
}
"""Maps the recordings' names of tools to ours; no parser of ours handles any other."""
TOOL_BAR, FINDINGS_BAR, PRECISION_BAR, RECALL_BAR = 0.90, 0.90, 0.95, 0.90


def main() -> int:
    """Print the figures, and fail when a bar is missed."""
    if len(sys.argv) < 2:
        print("left out: recognizing tools, findings in failures, same-failure pairs (name a DATA_DIR)")
        return 0
    place = Path(sys.argv[1])
    met = [*_outputs(place / "tool_outputs"), *_pairs(place / "failure-pairs-dev.jsonl")]
    return 0 if all(met) else 1


def _outputs(place: Path) -> list[bool]:
    named: list[bool] = []
    others: list[bool] = []
    failing: list[bool] = []
    for row in _rows(place / "index.jsonl"):
        seen = recognize((place / row["file"]).read_text(encoding="utf-8", errors="replace"))
        tool = seen.tool if seen is not None and seen.tool != file_line.TOOL else None
        expected = NAMED.get(row["tool"])
        (named if expected else others).append(_right(tool == expected, row["file"], f"taken for {tool}"))
        if row["kind"] == "fail":
            failing.append(_right(bool(seen and seen.findings), row["file"], "no findings"))
    return [
        _figure("known tools recognized", sum(named), len(named), TOOL_BAR),
        _figure("unknown tools left unnamed", sum(others), len(others), 0.0),
        _figure("findings in failing outputs", sum(failing), len(failing), FINDINGS_BAR),
    ]


def _pairs(path: Path) -> list[bool]:
    hits = claimed = same = 0
    for pair in _rows(path):
        equal = _mark(pair["a"]) == _mark(pair["b"])
        claimed += equal
        same += pair["same"]
        hits += equal and pair["same"]
        _right(equal == pair["same"], str(pair["id"]), "called same" if equal else "called different")
    return [
        _figure("pairs, precision", hits, claimed, PRECISION_BAR),
        _figure("pairs, recall", hits, same, RECALL_BAR),
    ]


def _mark(text: str) -> str:
    """The fingerprint that `untilgreen fingerprint` prints for this text."""
    seen = recognize(text)
    if seen is None or not seen.findings:
        return fingerprint(text)
    ids = "\n".join(sorted(finding.id for finding in seen.findings))
    return blake2b(ids.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _right(right: bool, name: str, trouble: str) -> bool:
    """Print a miss, and return whether it was right."""
    if not right:
        print(f"  miss: {name}: {trouble}")
    return right


def _figure(name: str, hits: int, all_: int, bar: float) -> bool:
    share = hits / all_ if all_ else 0.0
    print(f"{name}: {hits} of {all_} = {share:.1%}" + (f" (bar {bar:.0%})" if bar else ""))
    return share >= bar


if __name__ == "__main__":
    sys.exit(main())
