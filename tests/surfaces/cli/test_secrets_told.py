"""Nothing that a run prints, reports or sends to a notifier has a secret in it."""

import base64
from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import Cli, write
from tests.surfaces.cli.test_secrets import GATE, SECRET, TOKEN, VARIABLES

AGENT = """\
cat > /dev/null
echo "I use $SERVICE_TOKEN and TOKEN_HERE, $(printf 'me:%s' "$SERVICE_TOKEN" | base64)"
echo "key = $SERVICE_TOKEN" > "made-with-$SERVICE_TOKEN.txt"
echo "other = TOKEN_HERE" >> notes.txt
git add -A
git -c user.name=a -c user.email=a@example.org commit -qm "use $SERVICE_TOKEN and TOKEN_HERE"
exit 0
"""
TELLING = (
    *(("list", "--json"), ("show",), ("show", "--json"), ("why",), ("why", "--json"), ("follow", "--json")),
    *(("report", "--format", form, "--output", "-") for form in ("md", "html", "json", "junit")),
    ("verify", "--json"),
)
FORMS = (SECRET, TOKEN, base64.b64encode(f"me:{SECRET}".encode())[4:28].decode(), SECRET.replace("-", "%2D"))


def leaking(text: str) -> list[str]:
    return [form for form in FORMS if form in text]


@pytest.fixture
def told(cli: Cli) -> Path:
    """The file to which a notifier writes everything that it receives."""
    return cli.tmp / "told.txt"


def test_a_secret_is_in_nothing_that_a_run_reports(cli: Cli, told: Path) -> None:
    write(cli.tmp, {"gate.sh": GATE.replace("TOKEN_HERE", TOKEN)})
    on = '["finished", "stuck", "waiting", "paused", "budget", "started", "lap"]'
    notifier = f'{{ use = "command", command = "(cat; env | grep UNTILGREEN_NEWS) >> {told}", on = {on} }}'
    done = cli(
        *("run", f"Log in with {TOKEN} or {SECRET}.", "-a", cli.agent(AGENT.replace("TOKEN_HERE", TOKEN))),
        *("-g", f"login=LOGIN={SECRET} sh {cli.tmp}/gate.sh", "--set", 'gates.login.report="r.xml"'),
        *("--max-iterations", "2", "--set", 'leave="last"', "--verbose", "--set", f"notify=[{notifier}]"),
        env=VARIABLES,
    )
    assert done.code == 3, done.err
    assert leaking(done.out + done.err) == []
    assert leaking(told.read_text()) == []
    assert "exhausted" in told.read_text()
    for verb, *flags in TELLING:
        shown = cli(verb, *(() if verb == "list" else ("@last",)), *flags, env=VARIABLES)
        assert (verb, flags, leaking(shown.out + shown.err)) == (verb, flags, [])
        assert shown.out


def test_a_secret_in_a_gate_is_in_no_plan_and_no_check(cli: Cli) -> None:
    write(cli.tmp, {"gate.sh": GATE.replace("TOKEN_HERE", TOKEN)})
    gate = ("-g", f"login=LOGIN={SECRET} sh {cli.tmp}/gate.sh", "--set", 'gates.login.report="r.xml"')
    gates = (*gate, "-g", f"test '{SECRET}' = \"$SERVICE_TOKEN\"")
    for flags in ((), ("--json",)):
        check = cli("check", *gates, *flags, env=VARIABLES)
        plan = cli(
            "plan", f"Log in with {SECRET}.", "-a", f"cmd:true {SECRET}", *gates, *flags, env=VARIABLES
        )

        config = cli("config", "show", f"Log in with {TOKEN}.", *gates, *flags, env=VARIABLES)

        assert (check.code, plan.code, config.code) == (1, 0, 0), check.err + plan.err + config.err
        for done in (check, plan, config):
            assert leaking(done.out + done.err) == []
