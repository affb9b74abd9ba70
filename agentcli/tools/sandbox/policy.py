"""SandboxPolicy: what a command in the sandbox may write, read and reach, as paths of this machine."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from agentcli.files.repository import git_directory, repository_root

HIDDEN = (
    "~/.ssh", "~/.gnupg", "~/.aws", "~/.azure", "~/.kube", "~/.docker", "~/.netrc", "~/.pgpass", "~/.pypirc",
    "~/.git-credentials", "~/.vault-token", "~/.password-store", "~/.config/gh", "~/.config/git/credentials",
    "~/.config/gcloud", "~/.config/op", "~/.config/rclone", "~/.config/google-chrome", "~/.config/chromium",
    "~/.mozilla", "~/.cargo/credentials.toml", "~/.terraform.d/credentials.tfrc.json", "~/.claude", "~/.codex",
    "~/.local/share/keyrings", "~/Library/Keychains", "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d",
)  # fmt: skip
"""Where keys lie, and what opens other things."""

_FILES_OF_AGENTCLI = (".agentcli.toml", ".agentcli")
_FILES_OF_GIT = ("hooks", "config", "config.worktree", "commondir", "info/attributes")
_INNER_FILES_OF_GIT = (
    "worktrees/*/commondir", "worktrees/*/gitdir", "worktrees/*/config.worktree",
    "modules/*/config", "modules/*/hooks", "modules/*/*/config", "modules/*/*/hooks",
)  # fmt: skip


class SandboxPolicy(Struct, frozen=True, kw_only=True):
    cwd: Path
    writes: bool = True
    """Whether the working folder may be written to."""
    network: bool = False
    hosts: tuple[str, ...] | None = None
    """Names or `*.name`, if only those may be reached; `network` is False then."""
    writable: tuple[Path, ...] = ()
    """What may be written to besides; it need not exist."""
    hidden: tuple[Path, ...] = ()
    """What cannot be read, on top of `HIDDEN`."""
    shown: tuple[Path, ...] = ()
    """What can be read although it lies in something that is hidden."""

    def folders(self) -> list[Path]:
        """What may be written to and exists, real paths; of the repository above the working folder its `.git` too."""
        wanted = [self.cwd, *_git_folders(self.cwd)] if self.writes else []
        found = [Path(os.path.realpath(path)) for path in (*wanted, *self.writable) if path.exists()]
        return [path for path in dict.fromkeys(found) if not any(path != other and _in(path, other) for other in found)]

    def git_folders(self) -> list[Path]:
        """The git directories that commands may write to, real paths."""
        folders = self.folders()
        git = [Path(os.path.realpath(path)) for path in (*_git_folders(self.cwd), *(each / ".git" for each in folders))]
        return [path for path in dict.fromkeys(git) if path.is_dir() and any(_in(path, each) for each in folders)]

    def protected(self) -> list[Path]:
        """What exists inside of `folders` and stays as it is: it says what git or agentcli run later."""
        found = [path for path in self.run_later() if path.exists()]
        for folder in self.git_folders():
            found += [path for pattern in _INNER_FILES_OF_GIT for path in folder.glob(pattern)]
        for folder in filter(Path.is_dir, self.folders()):
            found += folder.glob(".agentcli*")
            # In a worktree or a submodule it is a file that names the repository.
            found += [path for path in (folder / ".git",) if path.is_file()]
        return list(dict.fromkeys(found))

    def run_later(self) -> list[Path]:
        """What, once it is there, says what git or agentcli run later: a command may neither change nor make it."""
        git = [folder / name for folder in self.git_folders() for name in _FILES_OF_GIT]
        return [*git, *(folder / name for folder in self.folders() for name in _FILES_OF_AGENTCLI)]

    def hidden_paths(self) -> list[Path]:
        """What is hidden and exists, real paths, outer ones first."""
        found = {Path(os.path.realpath(path)) for path in self._all_hidden() if os.path.lexists(path)}
        outer = sorted((path for path in found if path.exists()), key=lambda path: len(path.parts))
        return [path for number, path in enumerate(outer) if not any(_in(path, each) for each in outer[:number])]

    def may_read(self, path: Path) -> bool:
        return not _is_in_any(path, self.hidden_paths()) or _is_in_any(path, (*self.shown, *self.folders()))

    def may_write(self, path: Path) -> bool:
        inside = _is_in_any(path, self.folders()) and self.may_read(path)
        return inside and not _is_in_any(path, (*self.protected(), *self.run_later()))

    def describe(self, tmp: str = "/tmp") -> str:
        """What it allows, as a clause for the model and for people."""
        places = ["the working folder"] if self.writes else []
        places += [str(path) for path in self.writable]
        network = "network" if self.network else "no network"
        if self.hosts is not None:
            network = f"no network but {', '.join(self.hosts) or 'what the person allows'}"
        return f"only {', '.join(places) + ' and ' if places else ''}{tmp} can be written to, and there is {network}"

    def _all_hidden(self) -> Iterator[Path]:
        yield from self.hidden
        for name in HIDDEN:
            path = os.path.expanduser(name)  # noqa: PTH111 (without a home it stays as it is)
            if not path.startswith("~"):
                yield Path(path)


def _git_folders(cwd: Path) -> list[Path]:
    """The git directory of the repository that a folder is in; of a worktree also the one that it shares.

    What a `.git` file names is only believed if that names the worktree in turn: a clone may name anything.
    """
    root = repository_root(cwd)
    directory = git_directory(root) if root is not None else None
    if root is None or directory is None:
        return []
    if directory == root / ".git":
        return [directory]
    try:
        back = (directory / "gitdir").read_text("utf-8").strip()
        common = directory / (directory / "commondir").read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return []
    is_ours = os.path.realpath(back) == os.path.realpath(root / ".git")
    return [common.resolve()] if is_ours and _in(directory.resolve(), common.resolve()) else []


def _in(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents


def _is_in_any(path: Path, folders: Iterable[Path]) -> bool:
    return any(_in(path, folder) for folder in folders)
