"""Frontmatter: the `---` block at the head of a Markdown file, as far as templates and skills use YAML.

Known are `key: value` with bare, quoted and folded (`>`, `|`) values; what is deeper belongs to other programs.
"""

import re


def split_frontmatter(text: str) -> tuple[dict[str, str], str]:
    """The fields, and the text after them. A file without frontmatter has no fields."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    found = re.match(r"---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", text, re.S | re.M)
    if found is None:
        return {}, text
    return _fields(found[1].splitlines()), text[found.end() :]


def _fields(lines: list[str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for place, line in enumerate(lines):
        found = re.match(r"([\w-]+)[ \t]*:(?:[ \t]+(.*))?$", line)
        if found is None:
            continue
        value = (found[2] or "").strip()
        below = _indented(lines, place + 1)
        if re.fullmatch(r"[>|][+-]?\d*", value):
            value = ("\n" if value.startswith("|") else " ").join(below)
        elif value[:1] not in ("'", '"') and below and not below[0].startswith("- "):
            value = " ".join([value, *below]).strip()
        fields[found[1]] = _unquoted(value)
    return fields


def _indented(lines: list[str], start: int) -> list[str]:
    """The lines from `start` on that belong to the key above them."""
    block: list[str] = []
    # A slice would copy all that follows, for each key.
    for place in range(start, len(lines)):
        line = lines[place]
        if line.strip() and not line.startswith((" ", "\t")):
            break
        block.append(line.strip())
    while block and not block[-1]:
        block.pop()
    return block


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    if len(value) >= 2 and value[0] == value[-1] == '"':
        return re.sub(r'\\(["\\/])', r"\1", value[1:-1]).replace("\\n", "\n").replace("\\t", "\t")
    return re.sub(r"[ \t]#.*$", "", value)
