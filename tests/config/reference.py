"""`.agentcli.example.toml` and `docs/configuration.md`, from the declarations: `python -m tests.config.reference` writes both."""

import json
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from agentcli.config.declaration import Declared, Untrusted, declared, settings_schema, variable_of
from agentcli.config.settings import Settings
from tests.docs.paths import DOCS, ROOT

EXAMPLE = ROOT / ".agentcli.example.toml"
PAGE = DOCS / "configuration.md"

NAME = "mine"
"""Of the entry that stands for those of a table whose names the user chooses."""

EXAMPLE_HEAD = """\
# agentcli reads ~/.agentcli/config.toml (AGENTCLI_HOME moves the directory). Every key is here, with its default or an
# example. Copy the lines you want to change, without their first two characters. docs/configuration.md says more.
#
# A repository may contain the same keys in .agentcli.toml; what runs something or sends something elsewhere applies only
# after `agentcli trust`. Variables take precedence over files; bash_timeout is AGENTCLI_BASH_TIMEOUT, and max_retries in the
# table retry is AGENTCLI_RETRY__MAX_RETRIES, base_url in [providers.mine] AGENTCLI_PROVIDERS__MINE__BASE_URL.
"""

PAGE_HEAD = """\
# Configuration

<!-- Generated from agentcli/config by `python -m tests.config.reference`. Change the declarations, not this page. -->

agentcli reads `~/.agentcli/config.toml`; the variable `AGENTCLI_HOME` moves the directory.
[.agentcli.example.toml](../.agentcli.example.toml) shows every key in the form of such a file.

```sh run
export AGENTCLI_HOME=$(mktemp -d)
agentcli config set bash_timeout 60
agentcli config get bash_timeout
agentcli config show --origin | grep config.toml    # every setting as it applies here, and what sets it
agentcli config validate                            # exit code 2 if something is wrong
```

`agentcli config edit` opens `config.toml` in your editor and checks it afterwards.

## Sources

From the highest precedence to the lowest:

1. options of the command line, such as `--model`
2. environment variables
3. `.agentcli.toml` in the working directory, then in each directory above it up to the root of the repository
4. `~/.agentcli/config.toml`
5. the defaults

Tables are merged key by key. A file that is wrong is an error that names the line; an unknown key is a warning.

**Variables.** Each setting below names its variable; two underscores stand between tables. A list is written with commas. In
tables whose names you choose, the name is a part of the variable: `AGENTCLI_PROVIDERS__MINE__BASE_URL` is `base_url` in
`[providers.mine]`.

**Project files.** A repository is not to be trusted only because you work in it. What could run something, send something
elsewhere or allow something applies only after [`agentcli trust`](permissions.md#trust), and as long as the file does not change. "Untrusted project
file" below says what such a file may set before. In a project file, relative paths start from its own directory.

**Editors.** `agentcli config schema > ~/.agentcli/config.schema.json` writes a JSON Schema. With this first line in
`config.toml`, editors that know [taplo](https://taplo.tamasfe.dev) complete and check keys:

```toml
#:schema ./config.schema.json
```
"""

UNTRUSTED: dict[Untrusted, str] = {
    "never": "no",
    "any": "yes",
    "lower": "only a lower value",
    "higher": "only a higher value",
    "stricter": "only a stricter value",
    "off": 'only `"off"`',
}


def example_file(schema: type[Struct] = Settings) -> str:
    """The text of `.agentcli.example.toml`."""
    plain, tables = _by_kind(schema)
    blocks = [_lines_of(name, each) for name, each in plain.items()]
    for name, each in tables.items():
        inner = each.section or each.entry_schema
        lines = _wrapped(each.description)
        if inner is not None:
            lines.append(f"# [{name}]" if each.section else f"# [{name}.{NAME}]")
            for key, field in declared(inner).items():
                lines += _lines_of(key, field)
            lines += [""] if each.toml else []
        blocks.append(
            lines + [line if line.startswith("#") or not line else f"# {line}" for line in each.toml.splitlines()]
        )
    return "\n\n".join([EXAMPLE_HEAD.strip(), *map("\n".join, blocks)]) + "\n"


def page(schema: type[Struct] = Settings) -> str:
    """The text of `docs/configuration.md`."""
    definitions = settings_schema(schema)["$defs"]
    properties = definitions[schema.__name__]["properties"]
    plain, tables = _by_kind(schema)
    parts = [PAGE_HEAD, "## Settings outside of tables"]
    parts += [_entry(name, each, properties[name], definitions) for name, each in plain.items()]
    for name, each in tables.items():
        inner = each.section or each.entry_schema
        place = name if inner is None or each.section else f"{name}.NAME"
        parts += [f"## `[{place}]`", _filled(each.description)]
        if not each.section:
            kind = f"- type: {_type(properties[name], definitions)}\n" if inner is None else ""
            parts.append(f"{kind}- untrusted project file: {UNTRUSTED[each.untrusted]}")
        for key, field in declared(inner).items() if inner else ():
            definition = definitions[inner.__name__]["properties"][key] if inner else {}
            parts.append(_entry(f"{place}.{key}", field, definition, definitions, is_known=each.section is not None))
        if each.toml:
            parts.append(f"```toml\n{each.toml.strip()}\n```")
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _by_kind(schema: type[Struct]) -> tuple[dict[str, Declared], dict[str, Declared]]:
    """Settings with a value, and tables: in a file the former have to come first."""
    all_ = declared(schema)
    tables = {name: each for name, each in all_.items() if each.section or each.entry_schema or each.toml}
    return {name: each for name, each in all_.items() if name not in tables}, tables


def _lines_of(name: str, each: Declared) -> list[str]:
    return [*_wrapped(each.description), f"# {name} = {toml(shown(each))}"]


def _wrapped(text: str) -> list[str]:
    """A comment of the example file."""
    plain = re.sub(r'`("[^`]*")`', r"\1", text)
    return [f"# {line}" for line in _filled(plain).splitlines()]


def _filled(text: str) -> str:
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)


def shown(each: Declared) -> Any:
    """The example, or the default."""
    return each.default if each.example is None else each.example


def toml(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False)
        case list():
            return f"[{', '.join(map(toml, value))}]"
        case dict():
            return f"{{ {', '.join(f'{key} = {toml(item)}' for key, item in value.items())} }}" if value else "{}"
        case int() | float():
            return str(value)
        case _:
            raise TypeError(f"{value!r} is not in TOML")


def _entry(
    key: str, each: Declared, definition: dict[str, Any], definitions: dict[str, Any], *, is_known: bool = True
) -> str:
    """A setting of the page.

    Args:
        is_known: whether its key is fixed: it has a default, a variable and a rule of its own.
    """
    facts = [f"type: {_type(definition, definitions)}{f' ({each.unit})' if each.unit else ''}"]
    if is_known:
        facts.append(f"default: {'not set' if each.default is None else f'`{toml(each.default)}`'}")
    if each.example is not None and each.example != each.default:
        facts.append(f"example: `{toml(each.example)}`")
    if is_known and not each.is_table:
        facts.append(f"variable: `{variable_of(key)}`")
    if is_known:
        facts.append(f"untrusted project file: {UNTRUSTED[each.untrusted]}")
    return f"### `{key}`\n\n{_filled(each.description)}\n\n" + "\n".join(f"- {fact}" for fact in facts)


def _type(definition: dict[str, Any], definitions: dict[str, Any]) -> str:
    """What a JSON Schema says of a value, in words."""
    if "$ref" in definition:
        return _type(definitions[definition["$ref"].rpartition("/")[2]], definitions)
    if "enum" in definition:
        return _any_of([f"`{toml(value)}`" for value in definition["enum"]])
    if "anyOf" in definition:
        return _any_of([_type(each, definitions) for each in definition["anyOf"] if each != {"type": "null"}])
    match definition.get("type"):
        case "array":
            return f"list of {_type(definition['items'], definitions)}s"
        case "object":
            inner = definition.get("additionalProperties")
            return f"table, each value: {_type(inner, definitions)}" if isinstance(inner, dict) else "table"
        case "boolean":
            return "`true` or `false`"
        case str(name):
            return f"{name}{''.join(_limits(definition))}"
        case _:
            return "value"


def _any_of(kinds: list[str]) -> str:
    *first, last = kinds
    return f"{', '.join(first)} or {last}" if first else last


def _limits(definition: dict[str, Any]) -> Iterator[str]:
    signs = {"exclusiveMinimum": ">", "minimum": ">="}
    yield from (f" {sign} {definition[word]}" for word, sign in signs.items() if word in definition)


if __name__ == "__main__":
    EXAMPLE.write_text(example_file())
    PAGE.write_text(page())
