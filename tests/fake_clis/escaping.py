"""A CLI whose helper tries to outlive it, in the way that its argument names; both write their pids to $PIDS.

It prints `ready` once the helper runs. Then it waits, or ends at once if the second argument is `end`.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PIDS = os.environ["PIDS"]
HELPER = "echo $$ >> {pids}; exec sleep 600"


def helper(before: str = "") -> list[str]:
    return ["/bin/sh", "-c", before + HELPER.format(pids=PIDS)]


def in_background() -> None:
    subprocess.Popen(helper())


def in_a_session() -> None:
    subprocess.Popen(helper(), start_new_session=True)


def as_a_daemon(env: dict[str, str] | None = None) -> None:
    """Fork, start a new session, fork again: the parent is gone, and there can be no controlling terminal."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            quiet = os.open(os.devnull, os.O_RDWR)
            for handle in range(3):
                os.dup2(quiet, handle)
            os.execve("/bin/sh", helper(), dict(os.environ) if env is None else env)
        os._exit(0)
    os.wait()


def with_empty_environment() -> None:
    as_a_daemon(env={})


def ignoring_signals() -> None:
    subprocess.Popen(helper("trap '' INT TERM HUP; "), start_new_session=True)


def stopped() -> None:
    child = subprocess.Popen(helper(), start_new_session=True)
    while str(child.pid) not in Path(PIDS).read_text().split():
        time.sleep(0.01)
    child.send_signal(signal.SIGSTOP)


def main() -> None:
    way = {
        "background": in_background,
        "session": in_a_session,
        "daemon": as_a_daemon,
        "wiped": with_empty_environment,
        "deaf": ignoring_signals,
        "stopped": stopped,
    }[sys.argv[1]]
    with Path(PIDS).open("a") as file:
        file.write(f"{os.getpid()}\n")
    way()
    while len(Path(PIDS).read_text().split()) < 2:
        time.sleep(0.01)
    print("ready", flush=True)
    if sys.argv[2:] != ["end"]:
        time.sleep(600)


main()
