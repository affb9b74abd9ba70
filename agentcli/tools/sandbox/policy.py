"""SandboxPolicy: what a command in the sandbox may write, read and reach, as paths of this machine."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from agentcli.files.reading import read_beginning
from agentcli.files.repository import git_directory, repository_root
from agentcli.tools.sandbox.git_places import (
    SAYS_WHAT_RUNS,
    SAYS_WHERE_IT_IS,
    find_repositories,
    is_bare_repository,
    named_by_config,
    submodule_directories,
    worktree_directories,
)

_MOST_BYTES = 1 << 13

HIDDEN = (
    "~/.ssh", "~/.gnupg", "~/.aws", "~/.azure", "~/.kube", "~/.docker", "~/.netrc", "~/.pgpass", "~/.pypirc",
    "~/.git-credentials", "~/.vault-token", "~/.password-store", "~/.config/gh", "~/.config/git/credentials",
    "~/.config/gcloud", "~/.config/op", "~/.config/rclone", "~/.config/google-chrome", "~/.config/chromium",
    "~/.mozilla", "~/.cargo/credentials.toml", "~/.terraform.d/credentials.tfrc.json", "~/.claude", "~/.codex",
    "~/.local/share/keyrings", "~/Library/Keychains", "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d",
)  # fmt: skip
"""Where keys lie, and what opens other things."""

_FILES_OF_AGENTCLI = (".agentcli.toml", ".agentcli")


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

    repositories: tuple[Path, ...] = ()
    """The `.git` of repositories below the working folder; see `prepared`."""
    named_by_git: tuple[Path, ...] = ()
    """What the configuration of the repository names as its hooks and further configuration; see `prepared`."""

    def prepared(self) -> "SandboxPolicy":
        """The policy with the repositories that are there now: they were not made by a command. Searches the disk."""
        tops = self._tops()
        repositories = [path for top in tops for path in find_repositories(top)]
        root = repository_root(self.cwd) if tops else None
        named = [] if root is None else named_by_config(root)
        return replace(self, repositories=tuple(dict.fromkeys(repositories)), named_by_git=tuple(named))

    def folders(self) -> list[Path]:
        """What may be written to and exists, real paths; of the repository above the working folder its `.git` too."""
        wanted = [self.cwd, *_git_folders(self.cwd)] if self.writes else []
        found = [Path(os.path.realpath(path)) for path in (*wanted, *self.writable) if path.exists()]
        return [path for path in dict.fromkeys(found) if not any(path != other and _in(path, other) for other in found)]

    def git_folders(self) -> list[Path]:
        """The git directories that commands may write to, real paths, those of submodules included."""
        folders = self.folders()
        tops = self._tops()
        bare = [path for path in tops if is_bare_repository(path)]
        places = (*_git_folders(self.cwd), *bare, *(top / ".git" for top in tops), *self.repositories)
        git = [Path(os.path.realpath(path)) for path in places if path.is_dir()]
        found = [path for path in dict.fromkeys(git) if any(_in(path, each) for each in folders)]
        return list(dict.fromkeys(inner for path in found for inner in (path, *submodule_directories(path))))

    def protected(self) -> list[Path]:
        """What exists inside of `folders` and stays as it is: it says what git or agentcli run later.

        The paths may be links, which stay as they are too.
        """
        tops, folders = self._tops(), self.folders()
        found = [path for path in self.run_later() if os.path.lexists(path)]
        for top in tops:
            found += top.glob(".agentcli*")
        # In a worktree or a submodule it is a file that names the repository.
        names = [path for path in (*(top / ".git" for top in tops), *self.repositories) if not _is_directory(path)]
        found += [path for path in names if os.path.lexists(path)]
        # What a link leads to is run too.
        found += [Path(os.path.realpath(path)) for path in found if path.is_symlink()]
        inside = (path for path in found if any(_in(path, each) and path != each for each in folders))
        return list(dict.fromkeys(inside))

    def run_later(self) -> list[Path]:
        """What, once it is there, says what git or agentcli run later: a command may neither change nor make it."""
        found = [top / name for top in self._tops() for name in _FILES_OF_AGENTCLI]
        found += (path for path in self.named_by_git if any(_in(path, each) for each in self.folders()))
        for git in self.git_folders():
            found += [git / name for name in SAYS_WHAT_RUNS]
            found += [worktree / name for worktree in worktree_directories(git) for name in SAYS_WHERE_IT_IS]
        return found

    def anchors(self) -> list[Path]:
        """The directories inside of `folders` that must stay where they are for `protected` to mean what it does."""
        found = [path for path in self.git_folders() if path not in self.folders()]
        for path in (*found, *self.protected()):
            for folder in self.folders():
                found += [each for each in path.parents if folder in each.parents]
        return sorted(dict.fromkeys(found), key=lambda path: len(path.parts))

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

    def _tops(self) -> list[Path]:
        """The directories whose content may be written to, real paths, those inside of others included."""
        wanted = [self.cwd] if self.writes else []
        return list(dict.fromkeys(Path(os.path.realpath(path)) for path in (*wanted, *self.writable) if path.is_dir()))

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
    if (directory / "commondir").exists():
        try:
            back = read_beginning(directory / "gitdir", _MOST_BYTES)[0].decode().strip()
            common = directory / read_beginning(directory / "commondir", _MOST_BYTES)[0].decode().strip()
        except (OSError, UnicodeDecodeError):
            return []
        is_ours = os.path.realpath(back) == os.path.realpath(root / ".git")
        return [common.resolve()] if is_ours and _in(directory.resolve(), common.resolve()) else []
    return [directory.resolve()] if _worktree_of(directory) == root.resolve() else []


def _worktree_of(directory: Path) -> Path | None:
    """The directory that the git directory of a submodule says it belongs to."""
    try:
        config = read_beginning(directory / "config", 1 << 16)[0].decode("utf-8", "replace")
    except OSError:
        return None
    found = re.search(r"^\s*worktree\s*=\s*(\S.*?)\s*$", config, re.M | re.I)
    return (directory / found[1].strip('"')).resolve() if found else None


def _is_directory(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _in(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents


def _is_in_any(path: Path, folders: Iterable[Path]) -> bool:
    return any(_in(path, folder) for folder in folders)
