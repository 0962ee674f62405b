"""One module per verb; the docstring of its function is the text of its help.

run            run and resume: start a run or continue one, and show it until it ends.
detach         A run in the background, driven by a process that survives the terminal.
plan           plan: what a run would do and could cost, before any money is spent.
check          check: run the gates without an agent, once or several times.
demo           demo: a real loop with real gates and real snapshots, without a key.
init           init: write a first spec for a project, from what its files show.
list           list: all runs, from the catalog.
show           show and log: a run, one of its laps, or all of them in full.
why            why: explain the last decision of a run.
follow         follow: watch a run while another process drives it.
serve          serve: a page and an HTTP API for all runs.
report         report: write a report on a run.
verify         verify: check that a run's result still holds.
control        stop, cancel, pause, steer and answer: send something to a run.
diff_restore   diff and restore: look at the snapshots of a run, and bring them back.
apply          apply: merge the result of a run into the user's files.
fork           fork: start a new run from a lap of another one.
prune          prune: remove old runs.
fleet          fleet and worker: the same runs on many machines.
install        install and uninstall: add /ralph and its hooks to an agent's settings, or remove them.
session        session: loops in an agent's own session.
acp            acp: untilgreen as an agent in editors.
mcp            mcp: the verb for other agents and apps.
hook           hook: what an agent's hooks call during a session.
doctor         doctor: check that everything a run needs is installed, and say how to fix what isn't.
config         config show: the effective settings, and where each comes from.
trust          trust, and the question that is asked before a repository's spec runs anything.
plugins        plugins: list them, and check one of your own.
schema         schema: what programs may rely on, as JSON Schema.
completion     completion: the script with which a shell completes commands, options and run ids.
help           help: topics that are not commands.
learn          learn: what adaptive has learned from your own runs, and whether it uses it.
backtest       backtest: replay past runs with other detectors and strategies.
backtest_runs  backtest --runs: replay your own runs with other strategies.
fingerprint    fingerprint: which tool and findings are recognized in an output.
export         export: send what a journal holds to other tools.

Used by: `cli.main`, each when it is used; a verb may import another one.
"""
