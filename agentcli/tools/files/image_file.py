"""Images: told by their bytes, checked by decoding them, turned upright, and made as small as models take them.

At most 2000 x 2000 pixels and 4.5 MiB of base64. An image that fits as it is goes out byte for byte.
"""

from io import BytesIO, FileIO
from typing import TYPE_CHECKING

from msgspec import Struct

from agentcli.tools.truncate import size

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_SIDE = 2000
MAX_BASE64 = int(4.5 * 1024 * 1024)
MAX_FILE_BYTES = 256 * 1024 * 1024
MAX_PIXELS = 64_000_000
MAX_JPEG_PIXELS = 256_000_000
"""More would take hundreds of megabytes to decode. JPEG is decoded at a smaller scale."""

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp")

_AS_IT_IS = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}
_QUALITIES = (80, 85, 70, 55, 40)
_ORIENTATION_TAG = 0x0112


class ImageInfo(Struct, frozen=True):
    mime_type: str
    width: int
    height: int
    """Pixels of the image in the file, upright."""
    shown_width: int
    shown_height: int
    """Pixels of the image the model gets."""


class ReadImage(Struct, frozen=True):
    base64: str
    info: ImageInfo
    description: str
    """One sentence: format, size, and how shown pixels relate to those of the file."""


def image_format_of(sample: bytes) -> str | None:
    """What image the first bytes say the file is, as Pillow names it; None if it is none that we read."""
    if sample.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if sample.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if sample.startswith((b"GIF87a", b"GIF89a")):
        return "GIF"
    if sample.startswith(b"RIFF") and sample[8:12] == b"WEBP":
        return "WEBP"
    if sample.startswith(b"BM") and len(sample) >= 26 and sample[6:10] == b"\0\0\0\0":
        return "BMP"
    return None


def read_image(file: FileIO, sample: bytes, file_size: int) -> ReadImage | str:
    """The image in `file`, of which `sample` has been read; or what is wrong with it, as a clause."""
    from PIL import Image  # 11 ms

    kind = image_format_of(sample) or ""
    if file_size > MAX_FILE_BYTES:
        return f"the {kind} image is larger than {size(MAX_FILE_BYTES)} ({size(file_size)})"
    data = sample + file.read()
    Image.MAX_IMAGE_PIXELS = None  # it warns, or raises, at sizes of its own; the limits here are ours
    try:
        with Image.open(BytesIO(data), formats=[kind]) as image:
            width, height = original = image.size
            if width * height > (MAX_JPEG_PIXELS if kind == "JPEG" else MAX_PIXELS):
                return f"the {kind} image is too large to decode ({width}x{height} px)"
            if kind == "JPEG":
                image.draft(None, (MAX_SIDE, MAX_SIDE))
            if kind == "PNG" and not data.rstrip(b"\0\r\n").endswith(b"IEND\xaeB`\x82"):
                return "it starts like a PNG image, but its end is missing"
            image.load()
            return _fit(image, data, kind, original)
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        reason = "it cannot be decoded" if "cannot identify" in str(error) else str(error)
        return f"it starts like a {kind} image, but is damaged: {reason}"


def _fit(image: "Image", data: bytes, kind: str, original: tuple[int, int]) -> ReadImage:
    from PIL import ImageOps  # 1 ms, once Image is there

    is_turned = image.getexif().get(_ORIENTATION_TAG, 1) != 1
    if is_turned and image.getexif()[_ORIENTATION_TAG] >= 5:
        original = (original[1], original[0])
    fits = max(original) <= MAX_SIDE and _base64_size(len(data)) <= MAX_BASE64
    if fits and not is_turned and kind in _AS_IT_IS:
        return _read_image(data, _AS_IT_IS[kind], kind, original, original)
    upright = ImageOps.exif_transpose(image)
    upright.thumbnail((MAX_SIDE, MAX_SIDE))
    if upright.mode not in ("RGB", "RGBA", "L", "LA"):
        has_alpha = "transparency" in upright.info or upright.mode in ("PA", "La", "RGBa")
        upright = upright.convert("RGBA" if has_alpha else "RGB")
    encoded, mime_type = _encode(upright)
    while _base64_size(len(encoded)) > MAX_BASE64:
        upright = upright.resize((max(1, upright.width * 3 // 4), max(1, upright.height * 3 // 4)))
        encoded, mime_type = _encode(upright)
    return _read_image(encoded, mime_type, kind, original, upright.size)


def _encode(image: "Image") -> tuple[bytes, str]:
    """The smaller of PNG and JPEG if one fits, else the first smaller JPEG that does."""
    png = _saved(image, "PNG")
    flat = _on_white(image)
    jpeg = b""
    for quality in _QUALITIES:
        jpeg = _saved(flat, "JPEG", quality=quality)
        if len(png) <= len(jpeg) and _base64_size(len(png)) <= MAX_BASE64:
            return png, "image/png"
        if _base64_size(len(jpeg)) <= MAX_BASE64:
            break
    return jpeg, "image/jpeg"


def _on_white(image: "Image") -> "Image":
    """The image without transparency, which JPEG has not."""
    if image.mode not in ("RGBA", "LA"):
        return image
    from PIL import Image  # 11 ms, imported by now

    rgba = image.convert("RGBA")
    white = Image.new("RGBA", rgba.size, "white")
    return Image.alpha_composite(white, rgba).convert("RGB")


def _saved(image: "Image", kind: str, **options: int) -> bytes:
    buffer = BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def _base64_size(count: int) -> int:
    return (count + 2) // 3 * 4


def _read_image(data: bytes, mime_type: str, kind: str, original: tuple[int, int], shown: tuple[int, int]) -> ReadImage:
    from base64 import b64encode  # 1 ms

    description = f"{kind}, {original[0]}x{original[1]} px."
    if shown != original:
        factor = original[0] / shown[0]
        description = (
            f"{kind}, {original[0]}x{original[1]} px, shown at {shown[0]}x{shown[1]} px "
            f"(multiply coordinates by {factor:.2f} for those of the file)."
        )
    info = ImageInfo(mime_type, *original, *shown)
    return ReadImage(b64encode(data).decode("ascii"), info, description)
