"""The brief for a session: a template whose placeholders are filled in one pass."""

from __future__ import annotations

from collections.abc import Mapping

from untilgreen.errors import ConfigError, nearest
from untilgreen.regex import regex

MARK = "[UNTILGREEN LOOP"
"""How every brief in a session starts: the installed slash commands tell the agent to follow it."""
HEAD = f"{MARK} - ITERATION {{{{ITERATION}}}}/{{{{MAX}}}}]"
TEMPLATE = (
    f"{HEAD}\n"
    + """\

{{STATUS}}

IMPORTANT:
- Review your progress so far, and continue from where you left off.
- {{CLAIM}}
- Do not stop until the task is truly done.

{{FAILING}}

{{NOTES}}

Original task:
{{PROMPT}}

{{RULES}}"""
)

PLACEHOLDERS = ("ITERATION", "MAX", "PROMISE", "PROMPT", "STATUS", "CLAIM", "FAILING", "NOTES", "RULES")

_PLACEHOLDER = regex(r"\{\{([A-Z]+)\}\}")
_GAP = regex(r"\n{3,}")


def fill(template: str, values: Mapping[str, str]) -> str:
    """Fill every placeholder at once, so that nothing inside a value is taken for one.

    A paragraph whose value is empty is left out.
    """
    empty = {name: "" for name, value in values.items() if not value}
    spare = _GAP.sub("\n\n", _PLACEHOLDER.sub(lambda found: empty.get(found[1], found[0]), template))
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), spare).strip("\n")


def with_head(template: str) -> str:
    """Add our first line to a user's template that lacks it."""
    return template if template.startswith(MARK) else f"{HEAD}\n\n{template}"


def missing_placeholders(template: str) -> tuple[str, ...]:
    """The placeholders about the last lap that a template lacks."""
    found = _PLACEHOLDER.findall(template)
    return tuple(name for name in ("STATUS", "FAILING") if name not in found)


def check_template(template: str, name: str) -> str:
    """Check a user's template: every placeholder is known, and the task is among them."""
    for word in _PLACEHOLDER.findall(template):
        if word not in PLACEHOLDERS:
            raise ConfigError(f"{name} has an unknown placeholder {word!r}. {nearest(word, PLACEHOLDERS)}")
    if "{{PROMPT}}" not in template:
        raise ConfigError(f"{name} does not contain the task. Put {{{{PROMPT}}}} where the task should go.")
    return template
