"""TextFile: what kind of text a file holds: its encoding, its BOM, its line ends.

UTF-8 is assumed until a byte says otherwise; a BOM decides; UTF-16 without BOM is told by its NUL bytes; anything else
is Windows' Western European, or what `charset-normalizer` takes it for where that is unreadable. A NUL byte in other
text makes a file binary.
"""

import codecs
import re
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from charset_normalizer import CharsetMatch

SAMPLE_BYTES = 65_536
_GUESS_BYTES = 4096

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class TextEncoding(Struct, frozen=True):
    encoding: str
    """Name of the Python codec, without BOM: `utf-8`, `utf-16-le`, `cp1252` …"""
    bom: bytes = b""

    @property
    def unit(self) -> int:
        """Bytes of one code unit; line ends can be searched as single bytes only where it is 1."""
        return 4 if self.encoding.startswith("utf-32") else 2 if self.encoding.startswith("utf-16") else 1

    @property
    def label(self) -> str:
        """The encoding as people know it, empty for plain UTF-8."""
        if self.encoding == "utf-8":
            return "UTF-8 with BOM" if self.bom else ""
        return self.encoding.upper().replace("_", "-") + (" with BOM" if self.bom else "")


def sniff(sample: bytes) -> TextEncoding | None:
    """The kind of text that begins with `sample`, or None if it is binary. A cut character at the end is no matter."""
    for bom, encoding in _BOMS:
        if sample.startswith(bom):
            return TextEncoding(encoding, bom)
    if b"\0" in sample:
        return _sniff_utf16(sample)
    return TextEncoding(encoding_of(sample))


def kind_of_data(data: bytes, *, whole: bool) -> TextEncoding:
    """The kind of text that a file's content is, taken as text even if it looks binary.

    Args:
        whole: look at all of it, not at its beginning only: wanted where text that is not ASCII goes in or out.
    """
    kind = sniff(data[:SAMPLE_BYTES]) or TextEncoding("utf-8")
    if whole and kind.encoding == "utf-8" and len(data) > SAMPLE_BYTES:
        decoder = codecs.getincrementaldecoder("utf-8")()
        for start in range(0, len(data), 1 << 20):
            try:
                decoder.decode(data[start : start + (1 << 20)])
            except UnicodeDecodeError as error:
                around = start + error.start
                sample = data[max(0, around - SAMPLE_BYTES // 2) : around + SAMPLE_BYTES // 2]
                return TextEncoding(encoding_of(sample), kind.bom)
    return kind


def encoding_of(sample: bytes) -> str:
    """UTF-8, also if a few bytes are damaged; else what the bytes look most like."""
    if is_utf8(sample):
        return "utf-8"
    text = sample.decode("utf-8", "surrogateescape")
    damaged = sum("\udc80" <= char <= "\udcff" for char in text)
    good = sum(not char.isascii() for char in text) - damaged
    return "utf-8" if good > damaged else guess_encoding(sample)


def is_utf8(sample: bytes) -> bool:
    """Whether the bytes are UTF-8, but for a character that is cut at their end."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def guess_encoding(sample: bytes) -> str:
    """The likeliest encoding of bytes that are not UTF-8, by the lines that are not ASCII.

    Windows' Western European is by far the most used, so it is taken unless it would make the text unreadable.
    """
    lines = [line for line in sample[:SAMPLE_BYTES].split(b"\n") if not line.isascii()]
    evidence = b"\n".join(lines)[:_GUESS_BYTES]
    if not _is_western(evidence):
        from charset_normalizer import from_bytes  # 7 ms

        # UTF-16 and UTF-32 have been ruled out: there is no BOM, and no NUL byte.
        matches = list(from_bytes(evidence, cp_exclusion=["utf_16", "utf_16_be", "utf_16_le", "utf_32", "utf_7"]))
        # Of the encodings that fit equally well, Western European is by far the most used.
        best = [match.encoding for match in matches if _rank(match) == _rank(matches[0])]
        if best:
            return "cp1252" if "cp1252" in best else best[0]
    return "cp1252" if _decodes(evidence, "cp1252") else "latin-1"


_LEAST_EVIDENCE = 8
_ODD_IN_WESTERN = re.compile(
    r"[^\W\d_a-zA-Z]{3,}"  # letters with accents in a row
    r"|[‚ƒ„†‡ˆ‰‹›˜]"  # hardly used, but half of all characters of other encodings
    r"|(?<=[a-zà-ÿ])[¡-¬®-´¶-¿×÷•™](?=[a-zà-ÿ])"  # signs within a word
)


def _is_western(evidence: bytes) -> bool:
    """Whether bytes read well as Windows' Western European, or are too few to tell."""
    high = sum(byte >= 0x80 for byte in evidence)
    if high < _LEAST_EVIDENCE:
        return True
    if not _decodes(evidence, "cp1252"):
        return False
    odd = _ODD_IN_WESTERN.findall(evidence.decode("cp1252"))
    return sum(map(len, odd)) * 4 < high


def _rank(match: "CharsetMatch") -> tuple[float, float]:
    return match.chaos, match.coherence


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(data)
    except (UnicodeDecodeError, LookupError):
        return False
    return True


def _sniff_utf16(sample: bytes) -> TextEncoding | None:
    """UTF-16 without BOM has its NUL bytes nearly all on one side; None if they are not."""
    sample = sample[: len(sample) & ~1]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    for zeros, others, encoding in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        if zeros >= half * 0.4 and others * 10 <= zeros and _decodes(sample, encoding):
            text = sample.decode(encoding, "ignore")
            if not any(char < " " and char not in "\t\n\r\f" for char in text):
                return TextEncoding(encoding)
    return None


def is_probably_text(sample: bytes) -> bool:
    """Whether the bytes are UTF-8 text without control characters other than blanks and line ends."""
    controls = bytes(code for code in range(32) if code not in b"\t\n\r\f")
    return is_utf8(sample) and sample.translate(None, controls) == sample


_MAGIC = (
    (b"\x7fELF", "an ELF program or library"),
    (b"PK\x03\x04", "a zip archive (or a document in one)"),
    (b"%PDF-", "a PDF document"),
    (b"\x1f\x8b", "gzip data"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"(\xb5/\xfd", "zstd data"),
    (b"MZ", "a Windows program"),
    (b"\xca\xfe\xba\xbe", "a Java class or Mach-O program"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program"),
    (b"\0asm", "a WebAssembly module"),
)


def name_of_binary(sample: bytes) -> str:
    """What a binary file is, as far as its first bytes tell."""
    return next((name for magic, name in _MAGIC if sample.startswith(magic)), "a binary file")
