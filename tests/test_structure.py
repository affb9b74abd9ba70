"""Structure: how long modules and functions are, and that no modules import each other in a circle."""

import ast
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

import agentcli

PACKAGE = Path(agentcli.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

MOST_LINES = 400
MOST_LINES_OF_A_FUNCTION = 60
LONGER = {"_assemble": "one straight line of constructors, in the order in which they need each other"}
"""Functions that may be longer, and why."""


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or 0) - node.lineno + 1


def test_modules_are_short():
    lengths = {str(path.relative_to(PACKAGE)): len(path.read_text().splitlines()) for path in MODULES}
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}


def test_functions_are_short():
    long = {name for path in MODULES for name, length in functions(path) if length > MOST_LINES_OF_A_FUNCTION}
    assert long == set(LONGER)


@pytest.mark.filterwarnings("ignore")
def test_no_module_imports_itself_by_way_of_others():
    graph = grimp.build_graph("agentcli", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    # What imports nothing that is left is in no circle.
    while ends := [module for module, imported in imports.items() if not imported & imports.keys()]:
        for module in ends:
            del imports[module]
    # Nor is what nothing imports that is left.
    while starts := imports.keys() - {other for imported in imports.values() for other in imported}:
        for module in starts:
            del imports[module]
    assert sorted(imports) == []
