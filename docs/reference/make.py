"""Writes docs/reference from the code: `make reference`. With --check it only reports what is out of date."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from untilgreen.config.spec.json_schema import spec_schema
from untilgreen.config.spec.schema import EXTENDS, MODES, TABLES, CommandTable
from untilgreen.core.exit_codes import MEANINGS
from untilgreen.core.values.option_checks import choices_of, description_of, type_in_words, kinds_of
from untilgreen.gates.command import CommandGate
from untilgreen.plugins.kinds import BUILT_IN, Kind
from untilgreen.plugins.locations import from_module
from untilgreen.surfaces.cli.main import reference
from untilgreen.surfaces.cli.verbs.help import UNITS, VARIABLES

HERE = Path(__file__).parent
NOTE = "<!-- Made from the code by `make reference`; change the code, not this page. -->\n\n"
INTRODUCTION = """\
In `untilgreen.toml`, or below `[tool.untilgreen]` in `pyproject.toml`.
The nearest file from here up to the root of the repository is used.
Later sources win: defaults, the file, `--profile`, variables (`UNTILGREEN_LIMITS__COST`), flags, `--set`.
`untilgreen config show --sources` prints every value and its source.
`untilgreen schema spec` prints this page as a JSON Schema.
"""
TITLES: dict[Kind, str] = {
    "strategy": "Strategies",
    "detector": "Detectors",
    "gate": "Gates",
    "agent": "Agents",
    "notifier": "Notifiers",
}


def cli_page() -> str:
    """Every verb and flag, and what the exit codes mean."""
    codes = [f"| {code} | {meaning} |" for code, meaning in MEANINGS.items()]
    variables = [f"| `{name}` | {said} |" for name, said in VARIABLES]
    tail = [
        "## Exit codes\n",
        "| code | meaning |\n|---|---|",
        *codes,
        "\n## Environment\n",
        "| variable | what for |\n|---|---|",
        *variables,
    ]
    text = reference().replace("# untilgreen\n", "# The command line\n", 1).rstrip()
    return NOTE + text + "\n\n" + "\n".join(tail) + "\n"


def spec_page() -> str:
    """Every key of the spec, and what built-in plugins take."""
    return NOTE + "\n".join(_spec_lines()).rstrip() + "\n"


def _spec_lines() -> Iterator[str]:
    schema = spec_schema()["properties"]
    gate = schema["gates"]["additionalProperties"]
    yield "# The spec\n"
    yield INTRODUCTION
    yield from _keys("## Keys", {key: shape for key, shape in schema.items()})
    for name in TABLES:
        shape = schema[name]
        yield from _keys(
            f"## `[{name}]`", shape["anyOf"][1]["properties"] if name in MODES else shape["properties"]
        )
    yield from _keys("## `[gates.NAME]`, every kind", gate["properties"])
    yield from _keys(
        "## `[gates.NAME]`, commands",
        {key: gate["then"]["properties"][key] for key in kinds_of(CommandTable)},
    )
    yield "## `[profiles.NAME]`\n"
    yield f"Every key above, and `extends`: {EXTENDS[0].lower()}{EXTENDS[1:]}\n"
    yield "## Values\n"
    yield "| what | how |\n|---|---|"
    yield from (f"| {name} | {said} |" for name, said in UNITS)
    yield ""
    for kind, title in TITLES.items():
        if BUILT_IN[kind]:
            yield f"## {title}\n"
            yield from _plugins(kind)


def _keys(title: str, shapes: dict[str, Any]) -> Iterator[str]:
    yield f"{title}\n"
    yield "| key | value | default | |\n|---|---|---|---|"
    for key, shape in shapes.items():
        yield f"| `{key}` | {_value(shape)} | {_default(shape)} | {shape['description']} |"
    yield ""


def _value(shape: dict[str, Any]) -> str:
    if "enum" in shape:
        return ", ".join(f"`{json.dumps(each)}`" for each in shape["enum"])
    if "anyOf" in shape:
        return " or ".join(dict.fromkeys(_value(each) for each in shape["anyOf"]))
    if "const" in shape:
        return f"`{json.dumps(shape['const'])}`"
    names = {
        "string": "text",
        "object": "table",
        "array": "list",
        "boolean": "true or false",
        "integer": "number",
    }
    kind = str(shape.get("type", "anything"))
    return names.get(kind, kind)


def _default(shape: dict[str, Any]) -> str:
    return f"`{json.dumps(shape['default'], ensure_ascii=False)}`" if "default" in shape else ""


def _plugins(kind: Kind) -> Iterator[str]:
    for name, target in BUILT_IN[kind].items():
        module, _, attribute = target.partition(":")
        made = from_module(module, attribute, name)
        first = (inspect.getdoc(made) or "").partition("\n\n")[0].replace("\n", " ")
        yield f"### `{name}`\n"
        yield f"{first}\n"
        options = [
            each
            for each in inspect.signature(made, eval_str=True).parameters.values()
            if not each.name.startswith("_")
        ]
        if not options:
            continue
        yield "| option | value | default | |\n|---|---|---|---|"
        for each in options:
            default = "" if each.default is inspect.Parameter.empty else _shown(each.default)
            yield f"| `{each.name}` | {_type(each.annotation)} | {default} | {_said(made, each)} |"
        yield ""


def _type(kind: Any) -> str:
    choices = choices_of(kind)
    if choices:
        return ", ".join(f'`"{each}"`' for each in choices)
    return type_in_words(kind)


def _said(made: Any, option: inspect.Parameter) -> str:
    """What the option is for; an option without a description fails the reference."""
    said = description_of(option.annotation)
    if made is CommandGate:  # the spec has its options as keys of a gate
        said = description_of(kinds_of(CommandTable)[option.name])
    if not said:
        raise SystemExit(f"{made.__module__}.{made.__name__}: the option {option.name!r} has no description.")
    return said


def _shown(value: Any) -> str:
    if value is None:
        return "not set"
    if repr(value).startswith("<") or value in ((), {}, ""):
        return "empty"
    return f"`{str(value).lower() if isinstance(value, bool) else json.dumps(value)}`"


PAGES = {"cli.md": cli_page, "spec.md": spec_page}


def main() -> int:
    """Write the pages, or look whether they are current."""
    old = []
    for name, made in PAGES.items():
        path, text = HERE / name, made()
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            old.append(name)
    if old:
        print(
            f"docs/reference is out of date: {', '.join(old)}. Run `make reference`.",
            file=sys.stderr,
        )
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())
