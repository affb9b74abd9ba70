"""Declarations: a setting is one field of a Struct, `Annotated[type, setting("what it does", gt=0)]`.

The check of files and variables, the JSON Schema, what an untrusted project file may set, `.agentcli.example.toml` and
`docs/configuration.md` are all made from these fields. A field without `setting(...)` is not a setting.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

PREFIX = "AGENTCLI_"
"""The names of all variables that set something begin with it."""


Untrusted = Literal["never", "any", "lower", "higher", "stricter", "off"]
"""What a project file that the user does not trust may set: nothing that runs, allows or redirects something.

`any` is any value. Of `lower` and `higher`, a value in the other direction counts as the one that holds without the
file. `stricter` is one that comes later in `strictness`; `off` is that value only.
"""

Relative = Literal["", "path", "program", "rules", "command"]
"""What in a project file is relative to the directory of that file.

`path` is a list of paths, `program` a path with a slash (a name without one is searched for in `PATH`), `rules` a list
of permission rules, `command` a shell command, which runs in that directory if it names a file there.
"""


class Declared(Struct, frozen=True, kw_only=True):
    """A setting, as its field declares it. The fields that are not described here are arguments of `setting`."""

    kind: Any
    """The annotation without what `setting` adds."""
    default: Any
    description: str
    example: Any
    toml: str
    untrusted: Untrusted
    strictness: tuple[str, ...]
    unit: str
    form: str
    is_command: bool
    relative: Relative
    adds_up: bool

    @property
    def section(self) -> type[Struct] | None:
        """The Struct of a table such as `[retry]`; None for a setting with a value."""
        return _struct(self.kind)

    @property
    def is_table(self) -> bool:
        """Whether it is a table whose names the user chooses, such as `[keys]`."""
        return get_origin(self.kind) is dict

    @property
    def entry_schema(self) -> type[Struct] | None:
        """The Struct of the entries of such a table, as in `[providers.NAME]`."""
        return _struct(get_args(self.kind)[1]) if self.is_table else None


def _struct(kind: Any) -> type[Struct] | None:
    return kind if isinstance(kind, type) and issubclass(kind, Struct) else None


def setting(
    description: str,
    *,
    example: Any = None,
    toml: str = "",
    untrusted: Untrusted = "never",
    strictness: tuple[str, ...] = (),
    unit: str = "",
    form: str = "",
    is_command: bool = False,
    relative: Relative = "",
    adds_up: bool = False,
    gt: float | None = None,
    ge: float | None = None,
) -> Meta:
    """The metadata of a setting, for `Annotated`.

    Args:
        description: Markdown, for users.
        example: a value for the documentation; None shows the default.
        toml: lines of a config file, in place of `example`, for tables whose names the user chooses.
        untrusted: what a project file that the user does not trust may set.
        strictness: with `stricter`, the values in order, the strictest last. No value counts as the first.
        unit: of a number: `seconds`, `tokens`.
        form: the form of the strings of a list, for the message about one that does not match the pattern.
        is_command: whether it is run: the files that it names are then part of what a user trusts.
        relative: what in a project file is relative to the directory of that file.
        adds_up: whether lists of several sources count together; otherwise one replaces another.
        gt: a number must be greater than this.
        ge: a number must be at least this.
    """
    extra = {
        "example": example,
        "toml": toml,
        "untrusted": untrusted,
        "strictness": strictness,
        "unit": unit,
        "form": form,
        "is_command": is_command,
        "relative": relative,
        "adds_up": adds_up,
    }
    limits: dict[str, Any] = {"gt": gt, "ge": ge}
    return Meta(description=description, examples=None if example is None else [example], extra=extra, **limits)


@cache
def declared(schema: type[Struct]) -> dict[str, Declared]:
    """The settings of a Struct, by the name of the field."""
    defaults = schema()
    found: dict[str, Declared] = {}
    for name, hint in get_type_hints(schema, include_extras=True).items():
        for meta in getattr(hint, "__metadata__", ()):
            if isinstance(meta, Meta) and meta.extra is not None and "untrusted" in meta.extra:
                found[name] = Declared(
                    kind=hint.__origin__,
                    default=getattr(defaults, name),
                    description=meta.description or "",
                    **meta.extra,
                )
    return {name: found[name] for name in schema.__struct_fields__ if name in found}


@cache
def declared_keys(schema: type[Struct]) -> dict[str, Declared]:
    """The same by dotted key, with the settings of tables such as `[retry]` in place of the tables."""
    found: dict[str, Declared] = {}
    for name, each in declared(schema).items():
        inner = declared(each.section) if each.section is not None else None
        found |= {name: each} if inner is None else {f"{name}.{key}": value for key, value in inner.items()}
    return found


def variable_of(key: str) -> str:
    """The variable that sets a setting with one value: `AGENTCLI_RETRY__MAX_RETRIES` for `retry.max_retries`."""
    return PREFIX + key.replace(".", "__").upper()


def leaves(table: Mapping[str, Any], schema: type[Struct]) -> Iterator[tuple[tuple[str, ...], Declared, Any]]:
    """Path, declaration and value of each setting in a table, and of each field in one such as `[providers.NAME]`."""
    known = declared(schema)
    for name, value in table.items():
        if (each := known.get(name)) is None:
            continue
        if each.section is not None and isinstance(value, Mapping):
            yield from (((name, *path), inner, leaf) for path, inner, leaf in leaves(value, each.section))
        elif each.entry_schema is not None and isinstance(value, Mapping):
            for entry, fields in value.items():
                if isinstance(fields, Mapping):
                    for path, inner, leaf in leaves(fields, each.entry_schema):
                        yield (name, entry, *path), inner, leaf
        else:
            yield (name,), each, value


def unknown_keys(table: Mapping[str, Any], schema: type[Struct]) -> Iterator[tuple[str, ...]]:
    """The paths in a table that no setting has: those of the table itself come first."""
    known = declared(schema)
    yield from ((key,) for key in table if key not in known)
    for name, each in known.items():
        value = table.get(name)
        if not isinstance(value, Mapping):
            continue
        if each.section is not None:
            yield from ((name, *path) for path in unknown_keys(value, each.section))
        elif each.entry_schema is not None:
            for entry, fields in value.items():
                if isinstance(fields, Mapping):
                    yield from ((name, entry, *path) for path in unknown_keys(fields, each.entry_schema))


def settings_schema(schema: type[Struct]) -> dict[str, Any]:
    """The JSON Schema of a config file, for editors: descriptions, limits, defaults, and no other keys.

    Args:
        schema: the Struct of all settings.
    """
    made = msgspec.json.schema(schema)
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    settings = made["$defs"][schema.__name__]["properties"]
    for key in settings.keys() - declared(schema).keys():
        del settings[key]
    for definition in made["$defs"].values():
        if definition.get("type") == "object":
            definition.setdefault("additionalProperties", False)
    return made
