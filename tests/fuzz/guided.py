"""`make fuzz`: every target for so many seconds, guided by the branches that an input reaches (atheris).

`python -m tests.fuzz.guided SECONDS [TARGET …]`. Before that each target gets every large bomb. Inputs that
were worth keeping stay in `.fuzz/`; one that breaks a parser is written there as well, to become a test.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from time import process_time

CORPUS = Path(".fuzz")
BOMB_BYTES = 1_000_000
BOMB_SECONDS = 30.0
LONGEST_INPUT = 20_000


def main(seconds: int, names: list[str]) -> int:
    """Each target in a process of its own, since the guide never returns; the broken ones are named."""
    from tests.fuzz.targets import TARGETS

    broken = []
    for name in names or list(TARGETS):
        print(f"== {name}", flush=True)
        command = [sys.executable, "-m", "tests.fuzz.guided", "--one", name, str(seconds)]
        slow = _slow(name)
        for begin, took in slow:
            print(f"{begin!r}… took {took:.1f} s, bar {BOMB_SECONDS:.0f} s")
        if slow or subprocess.run(command, check=False).returncode:
            broken.append(name)
    print(f"broken: {', '.join(broken) or 'none'}")
    return int(bool(broken))


def _slow(name: str) -> list[tuple[bytes, float]]:
    from tests.fuzz.bombs import bombs
    from tests.fuzz.targets import TARGETS, play

    found = []
    for bomb in bombs(BOMB_BYTES):
        begun = process_time()
        play(TARGETS[name], bomb)
        took = process_time() - begun
        if took > BOMB_SECONDS:
            found.append((bomb[:40], took))
    return found


def one(name: str, seconds: int) -> None:
    """Let atheris play to one target; it ends the process itself."""
    import atheris  # type: ignore[import-untyped, import-not-found, unused-ignore]  # only `make fuzz` has it

    with atheris.instrument_imports(include=["untilgreen"]):
        from tests.fuzz.targets import TARGETS, play, seeds
    target, corpus = TARGETS[name], CORPUS / name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds(target)):
        (corpus / f"seed-{number}").write_bytes(seed[:LONGEST_INPUT])
    flags = [f"-max_total_time={seconds}", f"-max_len={LONGEST_INPUT}", f"-artifact_prefix={corpus}/"]
    bounds = ["-timeout=30", "-rss_limit_mb=2048", "-print_final_stats=1", "-verbosity=0"]
    atheris.Setup([sys.argv[0], *flags, *bounds, str(corpus)], lambda data: play(target, data))
    atheris.Fuzz()


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        one(sys.argv[2], int(sys.argv[3]))
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
