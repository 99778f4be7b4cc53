"""Pictures: which values are images, known by their class, and parts of messages made of them.

It must not import the library of the images.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from agent_magic.core.errors import OptionError
from agent_magic.core.messages import ImagePart
from agent_magic.core.values import Value, safe_repr


def is_picture(value: Value) -> bool:
    """Whether a value is a Pillow image."""
    return any(kind.__module__ == "PIL.Image" and kind.__name__ == "Image" for kind in type(value).__mro__)


def why_broken(image: Value) -> str:
    """Why an image's pixels cannot be read; empty if they can. A file is read now, while it may be open."""
    if 0 in image.size:
        return f"it has {image.width} × {image.height} pixels"
    try:
        image.load()
    except Exception as error:  # noqa: BLE001 - readers of files raise many kinds, assertions of a closed one too
        return f"{type(error).__name__}: {error}" if str(error) else "its file is closed"
    return ""


def to_parts(images: Value) -> tuple[ImagePart, ...]:
    """Images as parts of a message.

    Args:
        images: Pillow images or `ImagePart`s in a list; None for none.

    Raises:
        OptionError: Something in it is no image, or one that cannot be read.
    """
    if images is None:
        return ()
    if is_picture(images) or isinstance(images, str | bytes) or not isinstance(images, Iterable):
        raise OptionError(
            f"images is a list of Pillow images, and not {safe_repr(images, 80)}. Write images=[…]."
        )
    parts: list[ImagePart] = []
    for image in cast("Iterable[Value]", images):
        part = image if isinstance(image, ImagePart) else ImagePart(image=image)
        if not is_picture(part.image):
            raise OptionError(
                f"{safe_repr(part.image, 80)} is no Pillow image. Open it first: PIL.Image.open(path)."
            )
        if why := why_broken(part.image):
            raise OptionError(
                f"{safe_repr(part.image, 80)} cannot be read: {why}. Give a whole image; one out of a file that is "
                "closed by then has to be loaded before: image.load()."
            )
        parts.append(part)
    return tuple(parts)
