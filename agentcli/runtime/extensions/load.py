"""Extensions: finds and loads them. Imported only if there is one.

An extension is a module with `register(api)`: a file in `~/.agentcli/extensions/`, or an entry point of the group
`agentcli.extensions` in an installed package. One that cannot be loaded is told, and the others are loaded anyway.
"""

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

from agentcli.files.reading import read_bytes
from agentcli.runtime.extensions.api import GROUP, ExtensionApi, failure

MAX_BYTES = 16 << 20


class _Loader(SourceFileLoader):
    """Reads the module's file, and the compiled one beside it, only if nothing can block."""

    def get_data(self, path: str) -> bytes:
        return read_bytes(Path(path), MAX_BYTES)


def load_extensions(api: ExtensionApi, files: Sequence[Path], packages: Sequence[Path]) -> list[str]:
    """Let every extension register. Returns a line for each that failed.

    Args:
        files: modules of the person's own.
        packages: the metadata folders of installed packages that have extensions.
    """
    loaders: list[tuple[str, Callable[[], Any]]] = [(path.stem, lambda path=path: _load_file(path)) for path in files]
    if packages:
        from importlib.metadata import PathDistribution  # 20 ms

        points = [point for path in packages for point in PathDistribution(path).entry_points]
        loaders += [(point.name, point.load) for point in points if point.group == GROUP]
    problems: list[str] = []
    for name, load in loaders:
        api.extension = name
        try:
            loaded = load()
            register = getattr(loaded, "register", loaded)
            if not callable(register):
                raise TypeError("it has no function register(api)")
            register(api)
        # SystemExit too: an extension does not decide when agentcli ends.
        except (Exception, SystemExit) as error:
            problems.append(failure(name, "to load", error))
    api.extension = "agentcli"
    return problems


def _load_file(path: Path) -> Any:
    name = f"agentcli_extension_{path.stem}"
    loader = _Loader(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    if spec is None:
        raise ImportError(f"{path} is no module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]  # as an import that failed
        raise
    return module
