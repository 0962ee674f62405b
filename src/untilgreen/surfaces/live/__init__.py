"""Show a run while it is driven: live on a terminal, as plain lines, as JSON, or folded on GitHub Actions.

views           Which view shows a run: live on a terminal, plain lines elsewhere, JSON for programs.
live_view       The live view: a few lines about a run, redrawn in place, below one line for each lap.
panel           The lines of the live view: each fits the terminal, in ASCII where that is asked for.
keys            The keys of the live view: pause, stop, cancel, note, output, brief, diff, answers.
run_texts       The long texts of a run that keys open: the agent's output, its brief, the last diff.
pager           Shows a long text over the live view, in $PAGER or less, while the run continues.
attention       Get the attention of a person in another window: bell, title and notification.
github_actions  The view on GitHub Actions: a fold for each lap, an annotation for each finding, a summary.

Used by: the verbs that drive or follow a run. Uses: `core`, `engine` to read a run's folder, `surfaces/text`.
"""
