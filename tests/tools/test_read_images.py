"""Reading images: told by their bytes, checked, turned, and made small enough for models."""

import random
from base64 import b64decode
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from agentcli.tools.files.image_file import MAX_BASE64
from tests.tools.conftest import INPUTS, Answer, Tools


def shown(answer: Answer) -> Image.Image:
    (block,) = answer.images
    assert len(block.data) <= MAX_BASE64
    image = Image.open(BytesIO(b64decode(block.data)))
    assert Image.MIME[image.format] == block.mime_type
    image.load()
    return image


async def test_an_image_that_fits_goes_out_byte_for_byte_with_a_note(tools: Tools) -> None:
    answer = await tools.read(INPUTS / "valid_1x1.png")
    assert b64decode(answer.images[0].data) == (INPUTS / "valid_1x1.png").read_bytes()
    assert "PNG, 1x1 px" in answer.text


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
async def test_the_kinds_that_models_take_are_told_by_their_bytes_and_not_by_the_name(
    tools: Tools, cwd: Path, kind: str
) -> None:
    Image.new("RGB", (20, 10), "red").save(cwd / "picture.txt", kind)
    answer = await tools.read("picture.txt")
    assert shown(answer).format == kind
    assert answer.details.image.mime_type == Image.MIME[kind]


async def test_bmp_becomes_a_kind_that_models_take(tools: Tools, cwd: Path) -> None:
    Image.new("RGB", (20, 10), "red").save(cwd / "p.bmp")
    assert shown(await tools.read("p.bmp")).format in ("PNG", "JPEG")


async def test_text_that_is_named_like_an_image_is_text(tools: Tools) -> None:
    answer = await tools.read(INPUTS / "fake.png")
    assert not answer.images
    assert "not an image</body>" in answer.text
    assert "The name says image" in answer.text


async def test_an_empty_image_file_is_empty(tools: Tools) -> None:
    answer = await tools.read(INPUTS / "empty.png")
    assert not answer.images
    assert "is empty" in answer.text


async def test_a_damaged_image_is_an_error_and_never_an_image(tools: Tools, cwd: Path) -> None:
    answer = await tools.read(INPUTS / "truncated.png")
    assert answer.is_error
    assert not answer.images
    assert "its end is missing" in answer.text or "damaged" in answer.text
    buffer = BytesIO()
    Image.effect_noise((200, 200), 50).save(buffer, "PNG")
    for cut in (60, 1_000, len(buffer.getvalue()) - 20):
        (cwd / "cut.png").write_bytes(buffer.getvalue()[:cut])
        answer = await tools.read("cut.png")
        assert answer.is_error and not answer.images


@pytest.mark.parametrize("beginning", ["GIF is a word", "GIF89a is how these files begin", "BM is short", "RIFF"])
async def test_text_that_begins_like_an_image_is_text(tools: Tools, cwd: Path, beginning: str) -> None:
    (cwd / "notes.txt").write_text(f"{beginning}\nand so on\n")
    answer = await tools.read("notes.txt")
    assert answer.text.startswith(f"{beginning}\nand so on")


async def test_a_large_image_is_made_smaller_and_the_note_tells_the_scale(tools: Tools, cwd: Path) -> None:
    Image.new("RGB", (4000, 1000), "blue").save(cwd / "wide.png")
    answer = await tools.read("wide.png")
    assert shown(answer).size == (2000, 500)
    assert "4000x1000 px, shown at 2000x500 px (multiply coordinates by 2.00" in answer.text
    info = answer.details.image
    assert (info.width, info.height, info.shown_width, info.shown_height) == (4000, 1000, 2000, 500)


async def test_an_image_that_is_large_in_bytes_is_made_to_fit(tools: Tools, cwd: Path) -> None:
    noise = Image.frombytes("RGB", (1500, 1500), random.Random(1).randbytes(1500 * 1500 * 3))
    noise.save(cwd / "noise.png")
    assert (cwd / "noise.png").stat().st_size > 6_000_000
    assert max(shown(await tools.read("noise.png")).size) <= 2000


@pytest.mark.parametrize("orientation", [3, 6, 8])
async def test_a_turned_photo_is_shown_upright(tools: Tools, cwd: Path, orientation: int) -> None:
    photo = Image.new("RGB", (60, 40), "white")
    photo.paste("black", (0, 0, 30, 40))
    exif = Image.Exif()
    exif[0x0112] = orientation
    photo.save(cwd / "photo.jpg", exif=exif)
    answer = await tools.read("photo.jpg")
    image = shown(answer).convert("L")
    assert image.size == ((40, 60) if orientation != 3 else (60, 40))
    assert (answer.details.image.width, answer.details.image.height) == image.size
    dark_corner = {3: (55, 20), 6: (20, 5), 8: (20, 55)}[orientation]
    assert image.getpixel(dark_corner) < 60
    assert image.getexif().get(0x0112, 1) == 1


async def test_the_smaller_encoding_is_taken(tools: Tools, cwd: Path) -> None:
    Image.new("RGBA", (2100, 2100), (255, 0, 0, 128)).save(cwd / "flat.png")
    assert shown(await tools.read("flat.png")).format == "PNG"
    gradient = Image.linear_gradient("L").resize((2100, 2100)).convert("RGB")
    Image.blend(gradient, Image.effect_noise((2100, 2100), 60).convert("RGB"), 0.5).save(cwd / "photo.bmp")
    assert shown(await tools.read("photo.bmp")).format == "JPEG"


@pytest.mark.parametrize("mode", ["1", "P", "L", "LA", "RGBA", "I;16", "CMYK", "F"])
async def test_every_mode_of_pixels_can_be_made_smaller(tools: Tools, cwd: Path, mode: str) -> None:
    kind = {"CMYK": "JPEG", "F": "TIFF"}.get(mode, "PNG")
    if kind == "TIFF":
        Image.new("F", (10, 10)).convert("L").convert("P").resize((2100, 10)).save(cwd / "p.png")
    else:
        Image.new(mode, (2100, 10)).save(cwd / "p.png", kind)
    assert shown(await tools.read("p.png")).size[0] == 2000


async def test_an_image_too_large_to_decode_is_refused(tools: Tools, cwd: Path) -> None:
    Image.new("1", (10_000, 10_000)).save(cwd / "bomb.png")
    answer = await tools.read("bomb.png")
    assert answer.is_error
    assert "too large to decode (10000x10000 px)" in answer.text


async def test_with_images_switched_off_the_image_is_only_described(tools: Tools) -> None:
    tools.options.image_input = False
    answer = await tools.read(INPUTS / "valid_1x1.png")
    assert not answer.images
    assert "PNG, 1x1 px" in answer.text and "not shown" in answer.text
    tools.options.image_input = True
    assert (await tools.read(INPUTS / "valid_1x1.png")).images
