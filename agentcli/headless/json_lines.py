"""JSON lines: one object a line, ended by LF, with no key in it."""

import json

from agentcli.agent.json_bytes import json_bytes
from agentcli.agent.text import printable
from agentcli.config.masking import mask_data
from agentcli.headless.stdout_writer import StdoutWriter


def line_of(record: object) -> bytes:
    """A Struct, or plain data, as a line: UTF-8, LF included, whatever its strings hold."""
    return json_bytes(mask_data(record)) + b"\n"


class JsonLines:
    """Writes records to an outlet. On a terminal what it would obey is written as JSON's escapes."""

    def __init__(self, outlet: StdoutWriter) -> None:
        self._outlet = outlet
        self._escapes = outlet.isatty()

    def write(self, record: object) -> None:
        line = line_of(record)
        self._outlet.write(_escaped(line) if self._escapes else line)


def _escaped(line: bytes) -> bytes:
    text = line.decode()
    for character in set(text) if printable(text) != text else ():
        if printable(character) != character:
            text = text.replace(character, json.dumps(character)[1:-1])
    return text.encode()
