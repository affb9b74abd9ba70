"""Export: a session as a document to read, or as a file to import elsewhere."""

from agentcli.agent.errors import UsageError
from agentcli.sessions.codec import encode_line
from agentcli.sessions.copying import branch_lines
from agentcli.sessions.session import Session

FORMATS = ("html", "markdown", "jsonl")


def export_session(session: Session, format: str) -> str:
    """`html`: every branch, as one page. `markdown`, `jsonl`: the active branch; JSON lines can be imported again.

    Raises:
        UsageError: there is no such format.
    """
    match format:
        case "html":
            from agentcli.sessions.export.html import to_html

            return to_html(session)
        case "markdown":
            from agentcli.sessions.export.markdown import to_markdown

            return to_markdown(session)
        case "jsonl":
            lines = branch_lines(session.storage, session.leaf_id)
            return (encode_line(session.header) + b"".join(line + b"\n" for line in lines)).decode("utf-8", "replace")
        case _:
            raise UsageError(f"there is no export format {format!r}", hint=f"formats: {', '.join(FORMATS)}")
