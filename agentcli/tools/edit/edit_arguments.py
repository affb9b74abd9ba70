"""The forms in which models give the arguments of an edit, turned into one: a list of `old_text` and `new_text`."""

from typing import Any

from agentcli.tools.argument_names import PATH_NAMES, contradiction, parsed, rename

_TEXT_NAMES = {
    "old": "old_text",
    "old_content": "old_text",
    "oldContent": "old_text",
    "original": "old_text",
    "new": "new_text",
    "new_content": "new_text",
    "newContent": "new_text",
    "updated": "new_text",
    "all": "replace_all",
    "old_string": "old_text",
    "oldText": "old_text",
    "oldString": "old_text",
    "old_str": "old_text",
    "find": "old_text",
    "search": "old_text",
    "new_string": "new_text",
    "newText": "new_text",
    "newString": "new_text",
    "new_str": "new_text",
    "replacement": "new_text",
    "replace": "new_text",
    "replaceAll": "replace_all",
}


def prepare_edit_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """One `edits` list of `old_text` and `new_text`, out of all the forms that models give it.

    Raises:
        ToolError: the arguments contradict each other.
    """
    prepared = rename(arguments, {**PATH_NAMES, "edit": "edits", "changes": "edits"})
    edits = parsed(prepared.get("edits"))
    prepared = rename(prepared, _TEXT_NAMES)
    pair = {name: prepared.pop(name) for name in ("old_text", "new_text") if name in prepared}
    replace_all = prepared.pop("replace_all", None)
    if edits is None and isinstance(blocks := parsed(prepared.get("content")), list):
        edits = prepared.pop("content") and blocks
    if isinstance(edits, dict):
        edits = [edits]
    if pair and not edits:
        edits = [pair]
    if isinstance(edits, list):
        edits = [_prepare_edit(parsed(edit), replace_all) for edit in edits]
        _check_pair(pair, edits)
    if edits is not None:
        prepared["edits"] = edits
    return prepared


def _prepare_edit(edit: Any, replace_all: Any) -> Any:
    if not isinstance(edit, dict):
        return edit
    edit = rename(edit, _TEXT_NAMES)
    if replace_all is None:
        return edit
    if edit.setdefault("replace_all", replace_all) != replace_all:
        raise contradiction("replace_all beside edits says another thing than replace_all in one of them")
    return edit


def _check_pair(pair: dict[str, Any], edits: list[Any]) -> None:
    """Refuse an edit beside `edits` that is not one of them. Empty texts are a form that was not filled in."""
    if not any(pair.values()):
        return
    if not any(isinstance(edit, dict) and pair.items() <= edit.items() for edit in edits):
        raise contradiction(f"{' and '.join(pair)} beside edits are not one of the edits")
