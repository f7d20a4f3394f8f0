"""HTML of an image in a page: attributes of an `<img>` element from signed URLs of one image in
several widths."""

from __future__ import annotations

import html
import re
from typing import Dict, Optional, Sequence, Tuple

from .types import DeliveryUrl, VehicleParams

_SOURCE_SIDE_PX = 1024
_VIEW_WORDS = {
    "front": "front view",
    "front-3-4": "front three-quarter view",
    "side": "side view",
    "side-right": "right side view",
    "rear": "rear view",
    "rear-3-4": "rear three-quarter view",
}


def alt_text(vehicle: VehicleParams, *, make_name: Optional[str] = None, model_name: Optional[str] = None) -> str:
    """Returns a text alternative for people who cannot see the image. Names are made from the slugs
    if not given; a color in hex digits is left out."""
    make = make_name or _words(vehicle.make)
    model = model_name or _words(vehicle.model)
    color = "" if re.fullmatch("[0-9a-f]{6}", vehicle.color) else f"{vehicle.color.capitalize()} "
    return f"{color}{vehicle.year} {make} {model}, {_VIEW_WORDS[vehicle.view]}"


def car_image_attributes(urls: Sequence[DeliveryUrl], *, sizes: str = "100vw", alt: Optional[str] = None) -> Dict[str, str]:
    """Returns the attributes of an `<img>` element. `urls` are one image in different widths, as
    `create_image_urls` returns them."""
    if not urls:
        raise ValueError("`urls` is empty")
    by_width = sorted((*_size_px(url.vehicle), url.url) for url in urls)
    width, height, source = by_width[-1]
    attributes = {
        "src": source,
        "srcset": ", ".join(f"{address} {width}w" for width, _, address in by_width),
        "sizes": sizes,
        "alt": alt_text(urls[0].vehicle) if alt is None else alt,
        # The page keeps this space free before the image is loaded.
        "width": str(width),
    }
    # The shape of an image that is trimmed and fitted into a box is not known, and a wrong height
    # would distort it.
    if height:
        attributes["height"] = str(height)
    return attributes


def car_image_html(urls: Sequence[DeliveryUrl], *, sizes: str = "100vw", alt: Optional[str] = None) -> str:
    """Returns the `<img>` element. See `car_image_attributes`."""
    attributes = car_image_attributes(urls, sizes=sizes, alt=alt)
    written = " ".join(f'{name}="{html.escape(value)}"' for name, value in attributes.items())
    return f'<img {written} loading="lazy" decoding="async">'


def _size_px(vehicle: VehicleParams) -> Tuple[int, int]:
    """Width and height; the height is 0 where it is not known. Images are square unless their
    framing says otherwise, and are never enlarged."""
    width, height = vehicle.width or _SOURCE_SIDE_PX, vehicle.height or _SOURCE_SIDE_PX
    if vehicle.fit in ("contain", "cover"):
        return width, height
    if vehicle.trim:
        return width, 0
    side = min(width, height)
    return side, side


def _words(slug: str) -> str:
    return " ".join(word.capitalize() for word in slug.split("-"))
