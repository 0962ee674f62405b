"""Stories that together pass through every step and event of runs, their results and sessions."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.faults.stage import Act, Stage, Story

ID = "0bd2e4a1-5c1f-4c6e-9d3b-2f1f6f0c9a11"
DONE = "Now it is.\n<promise>DONE</promise>"
# It leaves a process running in another session. The draft is outside the workspace, so that a turn that is
# cut short has either counted or not.
COUNTING = """\
cat > /dev/null
setsid sleep 600 < /dev/null > /dev/null 2>&1 &
echo $(($(cat counter.txt) + 1)) > "$OUTSIDE/draft"
mv "$OUTSIDE/draft" counter.txt
"""
# Better once, then worse in every second turn, until the run gives up.
WAVERING = """\
cat > /dev/null
if test -e good; then rm good; touch bad; else touch good; rm -f bad; fi
"""
# Each turn fails in a different way, until the run switches to the next agent.
FAILING = """\
import os, time
from pathlib import Path

from untilgreen import Reply
from untilgreen.errors import AgentUnavailable


class Failing:
    async def work(self, brief, desk):
        turns = Path(os.environ["OUTSIDE"], "turns")
        turns.write_text((turns.read_text() if turns.exists() else "") + "x")
        number = len(turns.read_text())
        if number == 1:
            return Reply(error="rate_limited", retry_at=time.time() + 0.2)
        if number == 2:
            raise AgentUnavailable("It is not logged in. Log in.")
        return Reply(error="quota", detail="no more for today")
"""
# Three turns signal their driver to leave, like the system, a person, and a terminal that closes.
LEAVING = f"""\
for signal in TERM INT HUP; do
  if ! test -e "$OUTSIDE/$signal"; then
    touch "$OUTSIDE/$signal"
    kill -$signal $PPID
    sleep 600
  fi
done
{COUNTING}"""
# The change is made before the command, and a turn that is cut short repeats the command.
SAYING = """\
cat > /dev/null
touch done
untilgreen {verb} "$UNTILGREEN_INSIDE" || true
"""
ENOUGH = ("--gate", 'enough=test "$(cat counter.txt)" -ge 2')
LASTING = ("--set", "limits.errors=1000")
RUN = ("run", "Count up.", "--agent", "{agent}", *ENOUGH, *LASTING, "--json")


def _wants_to_stop(text: str, *, active: bool, tasks: tuple[str, ...] = ()) -> Act:
    def payload(stage: Stage) -> str:
        return json.dumps(
            {
                "session_id": ID,
                "transcript_path": str(stage.work / "missing.jsonl"),
                "cwd": str(stage.work),
                "permission_mode": "default",
                "hook_event_name": "Stop",
                "stop_hook_active": active,
                "last_assistant_message": text,
                "background_tasks": [{"id": task, "status": "running"} for task in tasks],
            }
        )

    return Act(words=("hook", "stop", "--agent", "claude"), stdin=payload)


def waits_for_approval(*flags: str) -> Act:
    """A run that is green except for a person's approval."""
    words = ("run", "Make it.", "--agent", "{agent}", "--gate", "done=test -e done", *LASTING)
    sign_off = "gates.sign-off={{kind='approval', people=['ann'], stage=2}}"
    return Act(words=(*words, "--set", sign_off, "--json", *flags), begins=True)


def _made_ok(stage: Stage) -> None:
    (stage.work / "counter.txt").write_text("2\n")


def _mine(stage: Stage) -> None:
    """The user adds a file of their own meanwhile."""
    (stage.work / "mine.txt").write_text("mine\n")


IN_PLACE = Story(name="in place", agent=COUNTING, acts=(Act(words=RUN, begins=True),))
GETTING_WORSE = Story(
    name="getting worse",
    agent=WAVERING,
    acts=(
        Act(
            words=(
                *("run", "Mend it.", "--agent", "{agent}", "--gate", "good=test -e good"),
                *("--gate", "never=false", "--max-iterations", "2", *LASTING, "--json"),
            ),
            begins=True,
        ),
    ),
)
GETTING_STUCK = Story(
    name="getting stuck",
    agent="cat > /dev/null\n",
    acts=(
        Act(
            words=(
                *("run", "Mend it.", "--agent", "{agent}", "--gate", "never=false"),
                *("--set", "remedies=['hint', 'ask']", *LASTING, "--json"),
            ),
            begins=True,
        ),
    ),
)
WORKTREE = Story(
    name="a worktree, its result, and its end",
    agent=COUNTING,
    acts=(
        Act(words=(*RUN, "--worktree", "--set", "workspace.setup='echo made > made.txt'"), begins=True),
        Act(words=("apply", "{run}"), before=_mine),
        Act(words=("apply", "{run}", "--undo")),
        Act(words=("fork", "{run}@1", "--worktree", "--json"), begins=True),
        # A killed first turn may have counted already, so only the files of lap 0 are the same each time.
        Act(words=("fork", "{run}@0", "--in-place", "--json"), begins=True),
        Act(words=("restore", "@last@0")),
        Act(words=("prune", "--keep", "0d")),
    ),
)
MAKING = "cat > /dev/null\ntouch done\n"
PEOPLE = Story(
    name="what people say",
    agent=MAKING,
    acts=(
        waits_for_approval("--no-input"),
        Act(words=("pause", "{run}")),
        Act(words=("steer", "{run}", "Mind the gap.")),
        Act(words=("answer", "{run}", "allow", "counter.txt")),
        Act(words=("answer", "{run}", "approve", "--as", "ann")),
        Act(words=("resume", "{run}", "--no-input", "--json")),
    ),
)
ANSWERING = """\
until untilgreen list | grep -q waiting; do sleep 0.1; done
until untilgreen answer @last approve --as ann; do sleep 0.05; done
"""
ANSWERED = Story(
    name="answered while it is driven",
    agent=MAKING,
    acts=(replace(waits_for_approval(), terminal=True, beside=ANSWERING),),
)
ENDING = Story(
    name="ended by people",
    agent=MAKING,
    acts=(
        waits_for_approval("--no-input", "--worktree"),
        Act(words=("cancel", "{run}")),
        waits_for_approval("--no-input", "--worktree"),
        Act(words=("stop", "@last")),
    ),
)
FAILURES = Story(
    name="an agent that fails",
    agent=COUNTING,
    files={"counter.txt": "0\n", "failing.py": FAILING},
    acts=(
        Act(words=(*RUN, "--trust", "--set", "agents=['./failing.py:Failing', '{agent}']"), begins=True),
        Act(words=("resume", "{run}", "--json")),
    ),
)
TOLD_TO_LEAVE = Story(
    name="told to leave",
    agent=LEAVING,
    acts=(Act(words=RUN, begins=True), *[Act(words=("resume", "{run}", "--json"))] * 3),
)


def _ended_while_driven(verb: str) -> Story:
    """The command is run while the driver is in the middle of a turn."""
    words = ("run", "Mend it.", "--agent", "{agent}", "--gate", "never=false", *LASTING, "--json")
    act = Act(words=words, begins=True)
    return Story(name=f"{verb} while it is driven", agent=SAYING.format(verb=verb), acts=(act,))


# A hook that is killed prints nothing, so its session stops; a person then continues it with a turn.
SESSION = Story(
    name="a session",
    agent="true\n",
    acts=(
        Act(words=("session", "start", "Count up.", "--session", ID, "--agent", "claude", *ENOUGH)),
        _wants_to_stop("The build goes on.", active=False, tasks=("b1",)),
        _wants_to_stop("I looked at it.", active=False),
        replace(_wants_to_stop(DONE, active=True), before=_made_ok),
        Act(words=("session", "go", "--session", ID)),
        _wants_to_stop(DONE, active=False),
    ),
)
STORIES = (
    *(
        IN_PLACE,
        GETTING_WORSE,
        GETTING_STUCK,
        WORKTREE,
        PEOPLE,
        ANSWERED,
        ENDING,
        FAILURES,
        TOLD_TO_LEAVE,
        SESSION,
    ),
    *(_ended_while_driven("stop"), _ended_while_driven("cancel")),
)
