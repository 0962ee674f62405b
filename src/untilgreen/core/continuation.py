"""What a session is told in place of a bare brief: a template whose placeholders are filled in one pass."""

from __future__ import annotations

import re
from collections.abc import Mapping

from untilgreen.errors import ConfigError, nearest

TEMPLATE = """\
[UNTILGREEN LOOP - ITERATION {{ITERATION}}/{{MAX}}]

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

PLACEHOLDERS = ("ITERATION", "MAX", "PROMISE", "PROMPT", "STATUS", "CLAIM", "FAILING", "NOTES", "RULES")

_PLACEHOLDER = re.compile(r"\{\{([A-Z]+)\}\}")
_GAP = re.compile(r"\n{3,}")


def fill(template: str, values: Mapping[str, str]) -> str:
    """Every placeholder at once, so that what stands in a value is never taken for one.

    Where a value is empty, so is its paragraph.
    """
    empty = {name: "" for name, value in values.items() if not value}
    spare = _GAP.sub("\n\n", _PLACEHOLDER.sub(lambda found: empty.get(found[1], found[0]), template))
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), spare).strip("\n")


def check_template(template: str, name: str) -> str:
    """A template of the user's own, where every placeholder is known and the task is in it."""
    for word in _PLACEHOLDER.findall(template):
        if word not in PLACEHOLDERS:
            raise ConfigError(f"{name} has an unknown placeholder {word!r}. {nearest(word, PLACEHOLDERS)}")
    if "{{PROMPT}}" not in template:
        raise ConfigError(f"{name} does not say the task. Put {{{{PROMPT}}}} where it belongs.")
    return template
