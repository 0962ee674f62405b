"""Start a run and follow its JSON lines, like a CI job, a chat bot or a dashboard."""

import json
import subprocess
import sys

command = ["untilgreen", "run", "--json", "--no-input", *sys.argv[1:]]
with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
    assert run.stdout is not None
    for text in run.stdout:
        line = json.loads(text)
        if line["type"] == "version":
            assert line["schema"].split(".")[0] == "1", "written for version 1"
        elif line["type"] == "event" and line["event"]["type"] == "GateChecked":
            event = line["event"]
            print(f"lap {event['lap']}: {event['gate']} {event['verdict']['status']}")
        elif line["type"] == "result":
            print(f"{line['outcome']} in lap {line['laps']}: {line['reason']}")
            assert line["exit_code"] in (0, 1, 3), line
sys.exit(run.returncode)
