"""completion: the script that lets a shell complete verbs, flags and run ids."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

from cyclopts import Parameter

from untilgreen.errors import UserError
from untilgreen.surfaces import streams
from untilgreen.surfaces.cli.main import make_app
from untilgreen.surfaces.cli.say import out

_AFTERWARDS = {
    "bash": "New shells with bash-completion find it by themselves.",
    "zsh": "Put its folder into fpath before compinit, in ~/.zshrc: fpath=(FOLDER $fpath)",
    "fish": "New shells find it by themselves.",
}


def completion(
    shell: Literal["bash", "zsh", "fish"],
    /,
    *,
    install: Annotated[
        bool, Parameter(help="Write it where the shell looks for it; no other file of yours is touched.")
    ] = False,
) -> int:
    """Print the completion script of a shell: verbs, flags, and the ids of runs as they are at that moment.

    To try it in bash: source <(untilgreen completion bash)

    Parameters
    ----------
    shell
        Which shell.
    """
    app = make_app()
    if not install:
        streams.write(sys.stdout, app.generate_completion(prog_name="untilgreen", shell=shell))
        return 0
    try:
        path = app.install_completion(shell=shell, add_to_startup=False)
    except OSError as error:
        raise UserError(
            f"The script can't be written: {error}. Print it, and put it where you want it: "
            f"untilgreen completion {shell} > FILE"
        ) from error
    out(f"Wrote {path}.")
    out(_AFTERWARDS[shell].replace("FOLDER", str(path.parent)))
    return 0
