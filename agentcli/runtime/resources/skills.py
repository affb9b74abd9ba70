"""Skills: folders with a `SKILL.md` (the Agent Skills format), listed in the system prompt and read when needed.

`name` (lower case, digits, hyphens, at most 64) and `description` (at most 1024 characters) are required;
`disable-model-invocation: true` leaves a skill to `/skill:name` alone.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from agentcli.files.reading import Judge, decode, read_bytes
from agentcli.runtime.resources.frontmatter import split_frontmatter

MAX_NAME = 64
MAX_DESCRIPTION = 1024
MAX_BYTES = 256 << 10


class Skill(Struct, frozen=True):
    name: str
    description: str
    path: Path
    """Of its `SKILL.md`."""
    judge: Judge
    """Of what it may be when it is read again."""
    listed: bool
    """Whether the model is told of it."""


def find_skills(folders: Iterable[Path], judge: Judge) -> tuple[list[Skill], list[str]]:
    """The skills in folders of skills, and a line for each that is wrong. Of one name, the first counts.

    Args:
        judge: refuses a file that is not to be read.
    """
    skills: dict[str, Skill] = {}
    notices: list[str] = []
    seen: set[str] = set()
    for folder in folders:
        for path in _files(folder, notices):
            real = os.path.realpath(path)
            if real in seen or (skill := _read(path, judge)) is None:
                continue
            seen.add(real)
            if isinstance(skill, str):
                notices.append(f"{path}: {skill}; the skill is left out")
            elif skill.name in skills:
                notices.append(
                    f"{path}: there is a skill {skill.name} in {skills[skill.name].path.parent}; this is left out"
                )
            else:
                skills[skill.name] = skill
    return list(skills.values()), notices


def skills_part(skills: Iterable[Skill]) -> str:
    """What the system prompt says of them; empty if there are none."""
    lines = [
        f"- {skill.name}: {' '.join(skill.description.split())} ({skill.path})" for skill in skills if skill.listed
    ]
    if not lines:
        return ""
    return "Skills: when a task fits one, read its file first; paths in it start in its folder.\n" + "\n".join(lines)


def skill_block(skill: Skill, arguments: str) -> str:
    """A skill as the person calls it: its whole text, and what they said after its name. Raises OSError."""
    _, body = split_frontmatter(_text(skill.path, skill.judge))
    block = f'<skill name="{skill.name}" folder="{skill.path.parent}">\n{body.strip()}\n</skill>'
    return f"{block}\n\n{arguments}" if arguments else block


def _files(folder: Path, notices: list[str]) -> list[Path]:
    """Where a `SKILL.md` may be."""
    try:
        return [inner / "SKILL.md" for inner in sorted(folder.iterdir())]
    except OSError as error:
        notices.append(f"{folder} cannot be read, so its skills are left out: {error.strerror}")
        return []


def _text(path: Path, judge: Judge) -> str:
    text, _ = decode(read_bytes(path, MAX_BYTES, judge))
    return text


def _read(path: Path, judge: Judge) -> Skill | str | None:
    """The skill, or what is wrong with it; None if there is none."""
    try:
        fields, _ = split_frontmatter(_text(path, judge))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    name = fields.get("name") or path.parent.name
    description = fields.get("description", "")
    if len(name) > MAX_NAME or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        return f"{name!r} is no name for a skill (lower case, digits and hyphens, at most {MAX_NAME})"
    if not description:
        return "it has no description"
    listed = fields.get("disable-model-invocation", "").lower() not in ("true", "yes")
    return Skill(name, description[:MAX_DESCRIPTION], path, judge, listed)
