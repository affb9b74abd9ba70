"""FileJudge: which files agentcli reads to the model by itself: context files, prompts, skills.

Those of the project have to be in it, and no rule of permissions may deny them to the tools. Those of the user's own
folder may be links to anywhere that no rule denies.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from agentcli.config.paths import home, shared_skills_folder
from agentcli.files.project_fence import fence_of
from agentcli.files.reading import FileProblem, Judge


def file_judge(cwd: Path, deny: Sequence[str] = ()) -> Judge:
    """Args:
    cwd: the working folder.
    deny: the rules of `[permissions]` that deny.
    """
    denied = _denier(cwd, deny)
    fence = fence_of(cwd, denied)
    own = home()
    folders = [folder for folder in (own / "prompts", own / "skills", shared_skills_folder()) if folder is not None]

    def judge(path: Path, status: os.stat_result) -> None:
        if path.parent != own and not any(path.is_relative_to(folder) for folder in folders):
            fence(path, status)
            return
        real = Path(os.path.realpath(path))
        # A rule that keeps tools away from `~/.agentcli` does not mean the instructions in it.
        if not real.is_relative_to(os.path.realpath(own)) and (rule := denied(real)):
            raise FileProblem(f"the rule {rule} denies it", path)

    return judge


def _denier(cwd: Path, deny: Sequence[str]) -> Callable[[Path], str | None]:
    """Gives the rule that denies `read` a path. A rule without a path speaks of a tool, not of files."""
    if not any("(" in text for text in deny):
        return lambda path: None
    from agentcli.runtime.permissions.rules import Rule, Verdict  # 2 ms, for who has such rules

    root = Path(os.path.realpath(cwd))
    rules = [Rule(Verdict.DENY, text, root) for text in deny]
    rules = [rule for rule in rules if rule.pattern is not None and rule.speaks_of("read")]
    return lambda path: next((rule.text for rule in rules if rule.covers_path(path)), None)
