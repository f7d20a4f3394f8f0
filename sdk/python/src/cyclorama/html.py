"""A picture in an HTML page: attributes of an `<img>` from signed addresses of one picture in several widths."""

from __future__ import annotations

import html
from typing import Dict, Optional, Sequence

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
    """A description for people who cannot see the picture. Names are made from slugs when not given."""
    make = make_name or _words(vehicle.make)
    model = model_name or _words(vehicle.model)
    return f"{vehicle.color.capitalize()} {vehicle.year} {make} {model}, {_VIEW_WORDS[vehicle.view]}"


def car_image_attributes(urls: Sequence[DeliveryUrl], *, sizes: str = "100vw", alt: Optional[str] = None) -> Dict[str, str]:
    """Attributes of an `<img>`: `urls` are one picture in different widths, as `create_image_urls` gave them."""
    if not urls:
        raise ValueError("`urls` is empty")
    by_width = sorted((_side_px(url.vehicle), url.url) for url in urls)
    widest = str(by_width[-1][0])
    attributes = {
        "src": by_width[-1][1],
        "srcset": ", ".join(f"{address} {width}w" for width, address in by_width),
        "sizes": sizes,
        "alt": alt_text(urls[0].vehicle) if alt is None else alt,
        # The space is kept free before the picture is there.
        "width": widest,
        "height": widest,
    }
    return attributes


def car_image_html(urls: Sequence[DeliveryUrl], *, sizes: str = "100vw", alt: Optional[str] = None) -> str:
    """The `<img>` itself."""
    attributes = car_image_attributes(urls, sizes=sizes, alt=alt)
    written = " ".join(f'{name}="{html.escape(value)}"' for name, value in attributes.items())
    return f'<img {written} loading="lazy" decoding="async">'


def _side_px(vehicle: VehicleParams) -> int:
    """Pictures are square and never enlarged."""
    return min(vehicle.width or _SOURCE_SIDE_PX, vehicle.height or _SOURCE_SIDE_PX)


def _words(slug: str) -> str:
    return " ".join(word.capitalize() for word in slug.split("-"))
