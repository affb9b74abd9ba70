"""The commands of `agentcli sessions`, their options and their help."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from agentcli.cli import options
from agentcli.cli.command_group import CommandGroup

app: CommandGroup = CommandGroup("Sessions: list, show, fork, export, repair them, or go on with one.")

Session = Annotated[str, typer.Argument(metavar="ID|PATH", help="A part of the id will do.")]
Entry = Annotated[str, typer.Argument(metavar="ENTRY", help="An entry's id, or a part of it; `tree` shows them.")]
Json = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]


class ExportFormat(StrEnum):
    HTML = "html"
    MARKDOWN = "markdown"
    JSONL = "jsonl"


@app.command("list")
def list_sessions(
    all_: Annotated[bool, typer.Option("--all", "-a", help="Those of every folder.")] = False,
    search: Annotated[
        str | None,
        typer.Option(
            "--search", "-s", metavar="WORDS", help='Those that hold all the words, "a phrase", or re:PATTERN.'
        ),
    ] = None,
    json: Json = False,
    cwd: options.Cwd = None,
) -> None:
    """List this folder's sessions, last used first."""
    from agentcli.cli.sessions import print_list

    print_list(all_, cwd, search, json)


@app.command("show")
def show_session(session: Session) -> None:
    """Print a session's conversation."""
    from agentcli.cli.sessions import print_session

    print_session(session)


@app.command("resume")
def resume_session(
    session: Annotated[str | None, typer.Argument(metavar="[ID|PATH]")] = None,
    model: options.Model = None,
    cwd: options.Cwd = None,
) -> None:
    """Open the app on a session; without one, on this folder's last."""
    from agentcli.cli.chat import open_chat

    raise typer.Exit(open_chat(model, session is None, session, False, cwd))


@app.command("fork")
def fork_session(
    session: Session,
    at: Annotated[str | None, typer.Option("--at", metavar="ENTRY", help="The last entry of the fork.")] = None,
    before: Annotated[
        str | None, typer.Option("--before", metavar="ENTRY", help="A message of yours; the fork ends before it.")
    ] = None,
    cwd: options.Cwd = None,
) -> None:
    """Make a new session that begins as another went.

    It has the whole of it, every branch, or one branch up to an entry. Its id is printed.
    """
    from agentcli.cli.sessions import fork

    fork(session, at, before, cwd)


@app.command("tree")
def show_tree(
    session: Session,
    all_: Annotated[bool, typer.Option("--all", "-a", help="Also labels, names and moves.")] = False,
) -> None:
    """Draw a session's tree, and where the conversation is in it."""
    from agentcli.cli.sessions import print_session_tree

    print_session_tree(session, all_)


@app.command("goto")
def go_to_entry(
    session: Session,
    entry: Annotated[str, typer.Argument(metavar="ENTRY|start", help="Where to go on; before it, if it is yours.")],
    summary: Annotated[bool, typer.Option("--summary", help="Have the model sum up the branch that is left.")] = False,
    instructions: Annotated[str, typer.Option("--instructions", help="What the summary shall attend to.")] = "",
    model: options.Model = None,
) -> None:
    """Go on from another entry. What was said after it stays, on a branch of its own."""
    from agentcli.cli.sessions import go_to

    raise typer.Exit(go_to(session, entry, summary, instructions, model))


@app.command("label")
def label_entry(
    session: Session, entry: Entry, label: Annotated[str | None, typer.Argument(metavar="[LABEL]")] = None
) -> None:
    """Give an entry a label, or take it away."""
    from agentcli.cli.sessions import set_label

    set_label(session, entry, label)


@app.command("rename")
def rename_session(session: Session, name: Annotated[str, typer.Argument(help="An empty one takes it away.")]) -> None:
    """Give a session a name."""
    from agentcli.cli.sessions import rename

    rename(session, name)


@app.command("delete")
def delete_session(
    session: Session, yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False
) -> None:
    """Delete a session: to the trash, where there is one."""
    from agentcli.cli.sessions import delete

    delete(session, yes)


@app.command("stats")
def show_stats(session: Session, json: Json = False) -> None:
    """Print what a session took: tokens, cost, time, tools."""
    from agentcli.cli.sessions import print_stats

    print_stats(session, json)


@app.command("compact")
def compact_session(
    session: Session,
    instructions: Annotated[
        list[str] | None, typer.Argument(metavar="[INSTRUCTIONS]...", help="What the summary shall attend to.")
    ] = None,
    model: options.Model = None,
) -> None:
    """Have the model sum up a session's older part.

    What it says then stands for that part, so that there is room to go on. The file keeps everything.
    """
    from agentcli.cli.sessions import compact

    raise typer.Exit(compact(session, " ".join(instructions or []), model))


@app.command("export")
def export_session(
    session: Session,
    format: Annotated[ExportFormat, typer.Option("--format", "-f")] = ExportFormat.HTML,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Else stdout.")] = None,
) -> None:
    """Write a session as a page, as Markdown or as JSON lines.

    The page has every branch, the others the active one. JSON lines can be imported again.
    """
    from agentcli.cli.sessions import export

    export(session, format, output)


@app.command("import")
def import_session(path: Annotated[Path, typer.Argument(metavar="PATH")], cwd: options.Cwd = None) -> None:
    """Make a session of a file from elsewhere.

    It may be one of agentcli, or one of pi (versions 1 to 3). The file stays as it is; the new id is printed.
    """
    from agentcli.cli.sessions import import_

    import_(path, cwd)


@app.command("doctor")
def check_sessions(
    sessions: Annotated[list[str] | None, typer.Argument(metavar="[ID|PATH]...", help="Else every one.")] = None,
    repair: Annotated[bool, typer.Option("--repair", help="Write a repaired copy of each that is not well.")] = False,
) -> None:
    """Check session files: what is torn, orphaned, unreadable.

    The exit code is 1 if there is something. Files are never changed; a repair is a copy.
    """
    from agentcli.cli.sessions import doctor

    raise typer.Exit(doctor(sessions or [], repair))
