"""Client of Cyclorama, an open vehicle image service. Start with the class `Cyclorama`."""

from .client import VERSION as __version__
from .client import Cyclorama
from .errors import (
    CycloramaError,
    InsufficientCreditsError,
    NotFoundError,
    RateLimitedError,
    UnauthorizedError,
    UnavailableError,
)
from .html import alt_text, car_image_attributes, car_image_html
from .partner_urls import sign_partner_url, verify_partner_url
from .transport import Retries
from .types import CarImage, CheckRow, Event, ImageInfo, ImageRequest

__all__ = [
    "CarImage",
    "CheckRow",
    "Cyclorama",
    "CycloramaError",
    "Event",
    "ImageInfo",
    "ImageRequest",
    "InsufficientCreditsError",
    "NotFoundError",
    "RateLimitedError",
    "Retries",
    "UnauthorizedError",
    "UnavailableError",
    "__version__",
    "alt_text",
    "car_image_attributes",
    "car_image_html",
    "sign_partner_url",
    "verify_partner_url",
]
