"""completion: the script with which a shell completes commands, options and run ids."""

from __future__ import annotations

import re
import sys
from typing import Annotated, Literal

from cyclopts import Parameter

from untilgreen.errors import UserError
from untilgreen.regex import regex
from untilgreen.surfaces.cli.main import make_app
from untilgreen.surfaces.text import streams
from untilgreen.surfaces.text.printing import out

_AFTERWARDS = {
    "bash": "New shells with bash-completion load it.",
    "zsh": "Add its folder to fpath before compinit, in ~/.zshrc: fpath=(FOLDER $fpath)",
    "fish": "New shells load it.",
}

_ZSH = """
if [[ ${funcstack[1]-} == (_cyclopts_untilgreen|_untilgreen) ]]; then
  _cyclopts_untilgreen "$@"
elif (( $+functions[compdef] )); then
  compdef _cyclopts_untilgreen untilgreen
fi
"""
"""Completes when zsh loads it from fpath, under either name, and registers itself when it is sourced."""
_FREE = regex(r"^( +'(?:\d+|\*):(?:[^:'\\]|\\.|'\\\\'')*)(' \\)$", re.MULTILINE)
_HINT = r'{ [[ $PREFIX == -* ]] || _message -e "$descr" }'
"""Free text gets its hint only if no option is being typed: zsh would not complete the option otherwise."""


def completion(
    shell: Literal["bash", "zsh", "fish"],
    /,
    *,
    install: Annotated[bool, Parameter(help="Write it where the shell looks for it.")] = False,
) -> int:
    """Print a shell completion script.

    It completes commands, options, and the ids of your runs.

    Try it in bash or zsh: source <(untilgreen completion bash)

    Try it in fish: untilgreen completion fish | source

    Parameters
    ----------
    shell
        The shell.
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
            f"The script can't be written: {error}. Print it to a file of your choice: "
            f"untilgreen completion {shell} > FILE"
        ) from error
    out(f"Wrote {path}.")
    out(_AFTERWARDS[shell].replace("FOLDER", str(path.parent)))
    return 0


def _script(shell: Literal["bash", "zsh", "fish"]) -> str:
    text = make_app().generate_completion(prog_name="untilgreen", shell=shell)
    return _FREE.sub(rf"\1:{_HINT}\2", text) + _ZSH if shell == "zsh" else text
