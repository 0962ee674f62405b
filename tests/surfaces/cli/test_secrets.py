"""No secret is in anything that a run leaves behind, whichever way it got into the run."""

import base64
from pathlib import Path

from tests.surfaces.cli.helpers import Cli, write

SECRET = "hunter2-hunter2-hunter2"
# In pieces, so that scanners for leaked secrets don't report this file.
TOKEN = "ghp" + "_16C7e42F292c6912E7710c838347Ae178B4a"
VARIABLES = {"SERVICE_TOKEN": SECRET}
AGENT = """\
cat > /dev/null
printf 'I use %s' "${SERVICE_TOKEN%2-*}"; sleep 0.1; printf '%s now\\n' "${SERVICE_TOKEN##*2-hunter}"
echo "I use $SERVICE_TOKEN" >&2
printf 'basic %s\\n' "$(printf 'me:%s' "$SERVICE_TOKEN" | base64)"
echo x > "made-with-$SERVICE_TOKEN.txt"
exit 0
"""
GATE = """\
echo "https://me:$SERVICE_TOKEN@example.org/ said no" TOKEN_HERE
printf '<testsuite tests="1"><testcase name="t"><failure message="%s"/></testcase></testsuite>' \
    "$SERVICE_TOKEN" > r.xml
exit 1
"""


def leaks(place: Path, *secrets: str) -> list[str]:
    """The files of runs with a secret in their text or path, except snapshots, which are the user's files."""
    forms = [secret.encode() for secret in secrets]
    forms += [base64.b64encode(b"me:" + form)[4:28] for form in forms]
    found = [path for path in place.rglob("*") if path.is_file() and "workspace" not in path.parts]
    assert found, "there are no files to search"
    return [
        str(path.relative_to(place))
        for path in found
        if any(form in path.read_bytes() or form in str(path).encode() for form in forms)
    ]


def test_a_secret_is_in_nothing_that_a_run_leaves_behind(cli: Cli) -> None:
    write(cli.tmp, {"gate.sh": GATE.replace("TOKEN_HERE", TOKEN)})
    done = cli(
        *("run", f"Log in with {TOKEN} or {SECRET}.", "-a", cli.agent(AGENT), "--json"),
        *("-g", f"login=LOGIN={SECRET} sh {cli.tmp}/gate.sh", "--set", 'gates.login.report="r.xml"'),
        *("--max-iterations", "2", "--set", "leave='last'"),
        env=VARIABLES,
    )
    shown = cli("show", "@last", "--json", env=VARIABLES)
    report = cli("report", "@last", "--format", "html", "-o", "-", env=VARIABLES)

    assert done.code == 3, done.err
    assert "The task contains a secret" in done.err
    assert leaks(cli.runs, SECRET, TOKEN) == []
    for text in (done.out, done.err, shown.out, report.out):
        assert SECRET not in text
        assert TOKEN not in text
    assert "[SERVICE_TOKEN redacted]" in done.out
    assert (cli.place / f"made-with-{SECRET}.txt").exists()


def test_a_secret_in_a_gate_is_kept_as_its_name_and_used_as_it_was(cli: Cli) -> None:
    gate = ("-g", f'login=test "{SECRET}" = "$SERVICE_TOKEN" && test -e done.txt')
    red = cli(
        "run", "Log in.", "-a", cli.agent("cat > /dev/null\n"), *gate, "--max-iterations", "1", env=VARIABLES
    )
    green = cli("run", "Log in.", "-a", cli.agent("cat > /dev/null\ntouch done.txt\n"), *gate, env=VARIABLES)
    again = cli("verify", "@last", env=VARIABLES)

    assert (red.code, green.code, again.code) == (3, 0, 0)
    assert leaks(cli.runs, SECRET) == []


def test_the_same_output_without_a_secret_is_left_as_it_is(cli: Cli) -> None:
    write(cli.tmp, {"gate.sh": GATE.replace("TOKEN_HERE", TOKEN)})
    cli(
        *("run", "Log in.", "-a", cli.agent(AGENT), "-g", f"login=sh {cli.tmp}/gate.sh"),
        *("--max-iterations", "1"),
        env={"SERVICE_NUMBER": SECRET, "SERVICE_TOKEN": "short"},
    )

    assert leaks(cli.runs, TOKEN) == []
    assert leaks(cli.runs, "https://me:short@example.org/ said no") != []


def test_a_secret_written_in_the_spec_itself_is_used_and_its_place_in_the_journal_is_reported(
    cli: Cli,
) -> None:
    write(
        cli.tmp,
        {"wanted": SECRET, "gate.sh": f'echo "$IT_TOKEN"; test "$IT_TOKEN" = "$(cat {cli.tmp}/wanted)"'},
    )
    spec = f"[gates.login]\nrun = 'sh {cli.tmp}/gate.sh && test -e done.txt'\nenv.IT_TOKEN = '{SECRET}'\n"
    write(cli.place, {"untilgreen.toml": spec})
    done = cli("run", "Log in.", "--trust", "-a", cli.agent("cat > /dev/null\ntouch done.txt\n"))

    assert done.code == 0, done.err
    assert "note: IT_TOKEN of gate login is a secret written in the spec itself" in done.err
    assert 'write IT_TOKEN = "${IT_TOKEN}"' in done.err
    assert [Path(leak).name for leak in leaks(cli.runs, SECRET)] == ["journal.jsonl"]


def test_a_secret_that_a_spec_names_by_its_variable_is_used_and_not_written_down(cli: Cli) -> None:
    write(cli.tmp, {"gate.sh": f'test "$SERVICE_TOKEN" = {SECRET} && test -e done.txt'})
    named = 'env.SERVICE_TOKEN = "${SERVICE_TOKEN}"'
    write(cli.place, {"untilgreen.toml": f"[gates.login]\nrun = 'sh {cli.tmp}/gate.sh'\n{named}\n"})
    agent = cli.agent("cat > /dev/null\ntouch done.txt\n")
    done = cli("run", "Log in.", "--trust", "-a", agent, env=VARIABLES)

    assert done.code == 0, done.err
    assert "is a secret written in the spec itself" not in done.err
    assert leaks(cli.runs, SECRET) == []


def test_a_secret_that_is_not_set_where_the_run_continues_is_named(cli: Cli) -> None:
    gate = ("-g", f'login=test "{SECRET}" = "$SERVICE_TOKEN" && test -e done.txt')
    run = ("run", "Log in.", "-a", cli.agent("cat > /dev/null\n"), *gate, "--strategy", "manual")
    left = cli(*run, env=VARIABLES)
    here, elsewhere = cli("resume", env=VARIABLES), cli("resume")

    assert (left.code, here.code, elsewhere.code) == (5, 5, 5), left.err
    assert "not set here" not in left.err + here.err
    assert "note: Gate login uses SERVICE_TOKEN, which is not set here." in elsewhere.err
