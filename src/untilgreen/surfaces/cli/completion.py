"""completion: the script that lets a shell complete verbs, flags and run ids."""

from __future__ import annotations

import re
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

_ZSH = """
if [[ ${funcstack[1]-} == (_cyclopts_untilgreen|_untilgreen) ]]; then
  _cyclopts_untilgreen "$@"
elif (( $+functions[compdef] )); then
  compdef _cyclopts_untilgreen untilgreen
fi
"""
"""Completes when zsh loads it from fpath, by either of its names, and registers itself when it is sourced."""
_FREE = re.compile(r"^( +'(?:\d+|\*):(?:[^:'\\]|\\.|'\\\\'')*)(' \\)$", re.MULTILINE)
_HINT = r'{ [[ $PREFIX == -* ]] || _message -e "$descr" }'
"""An argument of free text gets its hint only where no flag is typed: zsh would not write the flag then."""


def completion(
    shell: Literal["bash", "zsh", "fish"],
    /,
    *,
    install: Annotated[
        bool, Parameter(help="Write it where the shell looks for it; no other file of yours is touched.")
    ] = False,
) -> int:
    """Print the completion script of a shell: verbs, flags, and the ids of runs as they are at that moment.

    To try it in bash or zsh: source <(untilgreen completion bash)
    To try it in fish: untilgreen completion fish | source

    Parameters
    ----------
    shell
        Which shell.
    """
    text = _script(shell)
    if not install:
        streams.write(sys.stdout, text)
        return 0
    try:
        path = make_app().install_completion(shell=shell, add_to_startup=False)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(
            f"The script can't be written: {error}. Print it, and put it where you want it: "
            f"untilgreen completion {shell} > FILE"
        ) from error
    out(f"Wrote {path}.")
    out(_AFTERWARDS[shell].replace("FOLDER", str(path.parent)))
    return 0


def _script(shell: Literal["bash", "zsh", "fish"]) -> str:
    text = make_app().generate_completion(prog_name="untilgreen", shell=shell)
    return _FREE.sub(rf"\1:{_HINT}\2", text) + _ZSH if shell == "zsh" else text
