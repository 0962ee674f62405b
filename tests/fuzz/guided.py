"""`make fuzz`: fuzz each target for some seconds, guided by the branches that an input reaches (atheris).

`python -m tests.fuzz.guided SECONDS [TARGET …]`. Before that, each target reads every large bomb. Inputs that
reach new branches are kept in `.fuzz/`; one that breaks a parser is written there too, to become a test.
"""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from pathlib import Path
from time import process_time
from types import FrameType

CORPUS = Path(".fuzz")
BOMB_BYTES = 990_000
"""A little less than the largest file that parsers of whole files accept."""
BOMB_SECONDS = 10.0
MOST_MEMORY = 1_000
"""Megabytes that a target may use for a bomb of one megabyte; no parser needs more than a few hundred."""
LONGEST_INPUT = 20_000


class TooLong(BaseException):
    """A bomb took too long; not an Exception, so that no parser catches it."""


def main(seconds: int, names: list[str]) -> int:
    """Run each target in its own processes, as atheris never returns, and print the broken ones."""
    from tests.fuzz.targets import TARGETS

    broken = []
    for name in names or list(TARGETS):
        print(f"== {name}", flush=True)
        ways = [["--bombs", name], ["--one", name, str(seconds)]]
        codes = [
            subprocess.run([sys.executable, "-m", "tests.fuzz.guided", *way], check=False).returncode
            for way in ways
        ]
        broken += [name] if any(codes) else []
    print(f"broken: {', '.join(broken) or 'none'}")
    return int(bool(broken))


def bombed(name: str) -> int:
    """Let one target read every bomb; print those for which it crashes or needs too much time or memory."""
    from tests.fuzz.bombs import bombs
    from tests.fuzz.targets import TARGETS, play

    signal.signal(signal.SIGPROF, _too_long)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY * 1_000_000, resource.RLIM_INFINITY))
    worst, code = (0.0, -1, b""), 0
    for number, bomb in enumerate(bombs(BOMB_BYTES)):
        begun = process_time()
        signal.setitimer(signal.ITIMER_PROF, BOMB_SECONDS)
        try:
            play(TARGETS[name], bomb)
        except (TooLong, Exception) as error:
            signal.setitimer(signal.ITIMER_PROF, 0)
            code = 1
            print(f"bomb {number}, {bomb[:40]!r}…: {error!r:.400}", flush=True)
        signal.setitimer(signal.ITIMER_PROF, 0)
        worst = max(worst, (process_time() - begun, number, bomb[:40]))
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(f"slowest bomb: {worst[0]:.1f} s, number {worst[1]}, {worst[2]!r}…; {largest:.0f} MB", flush=True)
    return code


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TooLong(f"more than {BOMB_SECONDS:.0f} s")


def one(name: str, seconds: int) -> None:
    """Let atheris fuzz one target; it ends the process itself."""
    import atheris  # type: ignore[import-untyped, import-not-found, unused-ignore]  # only `make fuzz` has it

    with atheris.instrument_imports(include=["untilgreen"]):
        from tests.fuzz.targets import TARGETS, play, seeds
    target, corpus = TARGETS[name], CORPUS / name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds(target)):
        (corpus / f"seed-{number}").write_bytes(seed[:LONGEST_INPUT])
    flags = [f"-max_total_time={seconds}", f"-max_len={LONGEST_INPUT}", f"-artifact_prefix={corpus}/"]
    bounds = ["-timeout=30", "-rss_limit_mb=2048", "-print_final_stats=1", "-verbosity=0"]
    words = [f"-dict={_dictionary()}"]
    atheris.Setup([sys.argv[0], *flags, *bounds, *words, str(corpus)], lambda data: play(target, data))
    atheris.Fuzz()


def _dictionary() -> Path:
    """Words that parsers look for with regular expressions or in C, where atheris sees no branches."""
    from tests.fuzz.bombs import PIECES, WORDS

    parts = {part for word in WORDS for part in word.split("{}") if part.strip()}
    file = CORPUS / "words"
    lines = ["".join(f"\\x{byte:02x}" for byte in word.encode()) for word in sorted({*PIECES, *parts})]
    file.write_text("".join(f'"{line}"\n' for line in lines))
    return file


if __name__ == "__main__":
    if sys.argv[1] == "--bombs":
        sys.exit(bombed(sys.argv[2]))
    if sys.argv[1] == "--one":
        one(sys.argv[2], int(sys.argv[3]))
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
