"""A picture in an HTML page: attributes of an `<img>` from signed addresses of one picture in several widths."""

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
    """A description for people who cannot see the picture. Names are made from slugs when not given; hex digits are left out."""
    make = make_name or _words(vehicle.make)
    model = model_name or _words(vehicle.model)
    color = "" if re.fullmatch("[0-9a-f]{6}", vehicle.color) else f"{vehicle.color.capitalize()} "
    return f"{color}{vehicle.year} {make} {model}, {_VIEW_WORDS[vehicle.view]}"


def car_image_attributes(urls: Sequence[DeliveryUrl], *, sizes: str = "100vw", alt: Optional[str] = None) -> Dict[str, str]:
    """Attributes of an `<img>`: `urls` are one picture in different widths, as `create_image_urls` gave them."""
    if not urls:
        raise ValueError("`urls` is empty")
    by_width = sorted((*_size_px(url.vehicle), url.url) for url in urls)
    width, height, source = by_width[-1]
    attributes = {
        "src": source,
        "srcset": ", ".join(f"{address} {width}w" for width, _, address in by_width),
        "sizes": sizes,
        "alt": alt_text(urls[0].vehicle) if alt is None else alt,
        # The space is kept free before the picture is there.
        "width": str(width),
    }
    # Nobody knows the shape of one that is trimmed and fitted into a box: a wrong height would distort it.
    if height:
        attributes["height"] = str(height)
    return attributes


def car_image_html(urls: Sequence[DeliveryUrl], *, sizes: str = "100vw", alt: Optional[str] = None) -> str:
    """The `<img>` itself."""
    attributes = car_image_attributes(urls, sizes=sizes, alt=alt)
    written = " ".join(f'{name}="{html.escape(value)}"' for name, value in attributes.items())
    return f'<img {written} loading="lazy" decoding="async">'


def _size_px(vehicle: VehicleParams) -> Tuple[int, int]:
    """Width and height, which is 0 where it is not known. Pictures are square unless their frame says otherwise, and never enlarged."""
    width, height = vehicle.width or _SOURCE_SIDE_PX, vehicle.height or _SOURCE_SIDE_PX
    if vehicle.fit in ("contain", "cover"):
        return width, height
    if vehicle.trim:
        return width, 0
    side = min(width, height)
    return side, side


def _words(slug: str) -> str:
    return " ".join(word.capitalize() for word in slug.split("-"))
