"""Trust: which project files a person has looked at and trusts, by the hash of their content.

A file that was changed since is a file that nobody has looked at.
"""

import hashlib
from pathlib import Path

import msgspec
from msgspec import Struct

from agentcli.agent.errors import ConfigError
from agentcli.config.paths import trust_file
from agentcli.config.private_file import locked, write_private
from agentcli.files.reading import read_bytes

MAX_BYTES = 16 << 20
"""Of the file: about a hundred thousand trusted files."""


class TrustStore(Struct):
    """`trust.json`: real path to SHA-256 of the trusted content."""

    files: dict[str, str] = {}


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read_trust() -> TrustStore:
    """What is trusted.

    Raises:
        ConfigError: the file is broken. Then nothing is trusted, and nothing is written over it.
    """
    path = trust_file()
    try:
        return msgspec.json.decode(read_bytes(path, MAX_BYTES), type=TrustStore)
    except (FileNotFoundError, NotADirectoryError):
        return TrustStore()
    except OSError as error:
        raise ConfigError(f"{path}:1: cannot be read: {error.strerror}", hint="correct or remove it") from None
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}:1: cannot be read: {error}", hint="correct or remove it") from None


def is_trusted(path: Path, data: bytes) -> bool:
    """Whether a file is trusted with this content. `data` is what will be used, so that nothing can slip in between."""
    return read_trust().files.get(str(path.resolve())) == digest(data)


def trust(path: Path, data: bytes) -> None:
    """Trust a file as long as its content is `data`."""
    with locked(trust_file()):
        store = read_trust()
        store.files[str(path.resolve())] = digest(data)
        write_private(trust_file(), msgspec.json.format(msgspec.json.encode(store)))


def distrust(folder: Path) -> list[Path]:
    """Trust no file in a folder or below it any more. Returns those that were trusted."""
    with locked(trust_file()):
        store = read_trust()
        inside = [Path(name) for name in store.files if Path(name).is_relative_to(folder.resolve())]
        for path in inside:
            del store.files[str(path)]
        write_private(trust_file(), msgspec.json.format(msgspec.json.encode(store)))
    return inside
