"""URLs of `/images/car.png` that a partner signs. The holder of a partner secret gives images away
for free until a URL expires."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from typing import List, Literal, Mapping, Optional, Tuple, Union
from urllib.parse import parse_qsl, quote_plus, urlsplit

_PATH = "/images/car.png"
_AHEAD_MAX_SECONDS = 30 * 86_400

Verdict = Literal["valid", "unsigned", "malformed", "expired", "too_far_ahead", "wrong"]


def sign_partner_url(url: str, secret: str, parameters: Mapping[str, Union[str, int]], *, expires_at: int) -> str:
    """Signs the URL of an image at the service `url`. It is valid until `expires_at` (Unix seconds,
    at most 30 days ahead)."""
    for name in ("exp", "sig"):
        if name in parameters:
            raise ValueError(f"`{name}` must not be given, because signing adds it")
    pairs = [(name, str(value)) for name, value in parameters.items()] + [("exp", str(expires_at))]
    text = _signed_text(pairs)
    return f"{url.rstrip('/')}{text}&sig={_signature(secret, text)}"


def verify_partner_url(url: str, secret: str, *, now: Optional[float] = None) -> Verdict:
    """Checks a URL as the service would. `now` is in Unix seconds."""
    parts = urlsplit(url)
    if parts.path != _PATH:
        return "unsigned"
    pairs = parse_qsl(parts.query, keep_blank_values=True, errors="replace")
    exps = [value for name, value in pairs if name == "exp"]
    sigs = [value for name, value in pairs if name == "sig"]
    if not exps and not sigs:
        return "unsigned"
    if len(exps) != 1 or len(sigs) != 1 or not re.fullmatch("[0-9]{1,12}", exps[0]) or not re.fullmatch("[0-9a-f]{64}", sigs[0]):
        return "malformed"
    left = int(exps[0]) - int(time.time() if now is None else now)
    if left <= 0:
        return "expired"
    if left > _AHEAD_MAX_SECONDS:
        return "too_far_ahead"
    return "valid" if hmac.compare_digest(_signature(secret, _signed_text(pairs)), sigs[0]) else "wrong"


def _signed_text(pairs: List[Tuple[str, str]]) -> str:
    """Returns the text that is signed: the path, and the query without `sig`, sorted by key, in
    form encoding (URL Standard, application/x-www-form-urlencoded)."""
    signed = sorted((pair for pair in pairs if pair[0] != "sig"), key=lambda pair: pair[0])
    return _PATH + "?" + "&".join(f"{_encoded(name)}={_encoded(value)}" for name, value in signed)


def _encoded(text: str) -> str:
    # `quote_plus` leaves `~` as it is, but the form encoding does not.
    return quote_plus(text, safe="*").replace("~", "%7E")


def _signature(secret: str, text: str) -> str:
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()
