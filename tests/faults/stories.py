"""Stories that pass through all that a run, its result and a session can meet."""

from __future__ import annotations

import json

from tests.faults.stage import Act, Stage, Story

ID = "0bd2e4a1-5c1f-4c6e-9d3b-2f1f6f0c9a11"
# What it leaves running has left its session. The draft lies outside of the workspace: a turn that is cut
# short has counted, or it has not, and no more.
COUNTING = """\
cat > /dev/null
setsid sleep 600 < /dev/null > /dev/null 2>&1 &
echo $(($(cat counter.txt) + 1)) > "$OUTSIDE/draft"
mv "$OUTSIDE/draft" counter.txt
"""
# Better once, and then worse again and again, until nobody believes in it any more.
WAVERING = """\
cat > /dev/null
if test -e good; then rm good; touch bad; else touch good; rm -f bad; fi
"""
ENOUGH = ("--gate", 'enough=test "$(cat counter.txt)" -ge 2')
LASTING = ("--set", "limits.errors=1000")
RUN = ("run", "Count up.", "--agent", "{agent}", *ENOUGH, *LASTING, "--json")


def _wants_to_stop(text: str, *, active: bool) -> Act:
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
                "background_tasks": [],
            }
        )

    return Act(words=("hook", "stop", "--agent", "claude"), stdin=payload)


def _made_ok(stage: Stage) -> None:
    (stage.work / "counter.txt").write_text("2\n")


def _mine(stage: Stage) -> None:
    """Their user goes on meanwhile, with a file of their own."""
    (stage.work / "mine.txt").write_text("mine\n")


IN_PLACE = Story(name="in place", agent=COUNTING, acts=(Act(words=RUN, begins=True),))
GETTING_STUCK = Story(
    name="getting stuck",
    agent=WAVERING,
    acts=(
        Act(
            words=(
                *(
                    "run",
                    "Mend it.",
                    "--agent",
                    "{agent}",
                    "--gate",
                    "good=test -e good",
                    "--gate",
                    "never=false",
                ),
                *("--set", "agents=['{agent}', 'cmd:sh ../agent']"),
                *("--max-iterations", "6", *LASTING, "--json"),
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
        Act(words=("fork", "{run}@1", "--in-place", "--json"), begins=True),
        Act(words=("restore", "@last@0")),
        Act(words=("prune", "--keep", "0d")),
    ),
)
PEOPLE = Story(
    name="what people say",
    agent="cat > /dev/null\ntouch done\n",
    acts=(
        Act(
            words=(
                *(
                    "run",
                    "Make it.",
                    "--agent",
                    "{agent}",
                    "--gate",
                    "done=test -e done",
                    *LASTING,
                    "--no-input",
                ),
                *("--set", "gates.sign-off={{kind='approval', people=['ann'], stage=2}}", "--json"),
            ),
            begins=True,
        ),
        Act(words=("pause", "{run}")),
        Act(words=("steer", "{run}", "Mind the gap.")),
        Act(words=("answer", "{run}", "approve", "--as", "ann")),
        Act(words=("resume", "{run}", "--no-input", "--json")),
    ),
)
SESSION = Story(
    name="a session",
    agent="true\n",
    acts=(
        Act(words=("session", "start", "Count up.", "--session", ID, "--agent", "claude", *ENOUGH)),
        _wants_to_stop("I looked at it.", active=False),
        Act(
            words=_wants_to_stop("", active=True).words,
            stdin=_wants_to_stop("Now it is.\n<promise>DONE</promise>", active=True).stdin,
            before=_made_ok,
        ),
    ),
)
STORIES = (IN_PLACE, GETTING_STUCK, WORKTREE, PEOPLE, SESSION)
