"""Slash commands: what `/name arguments` and `/skill:name arguments` stand for, from templates, skills and extensions.

Of one name the first counts: the person's own folder, then the project's nearest one. Nothing here runs anything; a
text that names none of them is left as it is.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from agentcli.files.reading import Judge, decode, read_bytes
from agentcli.runtime.resources.frontmatter import split_frontmatter
from agentcli.runtime.resources.skills import Skill, find_skills, skill_block
from agentcli.runtime.resources.templates import fill_in, split_arguments

MAX_BYTES = 256 << 10


class SlashCommand(Struct, frozen=True):
    """What a person can type, for lists and completion."""

    name: str
    """Without the slash."""
    description: str
    argument_hint: str = ""
    source: str = ""
    """`template`, `skill` or `extension`."""


class Template(Struct, frozen=True):
    name: str
    path: Path
    description: str
    argument_hint: str
    text: str


class SlashCommands:
    """Args:
    prompt_folders: folders with templates, those that count first.
    skill_folders: folders with skills, those that count first.
    judge: refuses a file that is not to be read.
    """

    def __init__(self, prompt_folders: Iterable[Path], skill_folders: Iterable[Path], judge: Judge) -> None:
        self.skills, self.notices = find_skills(skill_folders, judge)
        self._skills = {skill.name: skill for skill in self.skills}
        self._templates: dict[str, Template] = {}
        for folder in prompt_folders:
            for path in sorted(folder.glob("*.md")):
                template = self._read(path, judge)
                if template is not None:
                    self._templates.setdefault(template.name, template)

    def listed(self) -> list[SlashCommand]:
        templates = [
            SlashCommand(each.name, each.description, each.argument_hint, "template")
            for each in self._templates.values()
        ]
        return templates + [SlashCommand(f"skill:{each.name}", each.description, "", "skill") for each in self.skills]

    def expand(self, text: str) -> str:
        """What a text stands for; the text itself if it names no template and no skill."""
        found = re.match(r"/(skill:)?([\w.-]+)(?:\s+(.*))?\Z", text, re.S)
        if found is None:
            return text
        written = (found[3] or "").strip()
        if found[1]:
            skill = self._skills.get(found[2])
            return text if skill is None else _called(skill, written)
        template = self._templates.get(found[2])
        return text if template is None else fill_in(template.text, split_arguments(written), written)

    def _read(self, path: Path, judge: Judge) -> Template | None:
        try:
            whole, is_whole = decode(read_bytes(path, MAX_BYTES, judge))
        except FileNotFoundError:
            return None  # a link to nothing
        except OSError as error:
            self.notices.append(f"{path} cannot be read, so there is no /{path.stem}: {error.strerror}")
            return None
        if not is_whole:
            self.notices.append(f"{path} is not UTF-8; what cannot be read in it is replaced")
        fields, text = split_frontmatter(whole)
        first = next((line.strip() for line in text.splitlines() if line.strip()), "")
        return Template(
            path.stem, path, fields.get("description") or first, fields.get("argument-hint", ""), text.strip()
        )


def _called(skill: Skill, written: str) -> str:
    try:
        return skill_block(skill, written)
    except OSError as error:
        return f"(The skill {skill.name} cannot be read: {error.strerror}.) {written}"
