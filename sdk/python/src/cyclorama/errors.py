"""Exceptions: a base class, and one for each case for which programs make a decision. `code` tells
everything else apart."""

from __future__ import annotations

from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Dict, Mapping, Optional


class CycloramaError(Exception):
    """A request that was refused or failed.

    `code` is the stable code for programs: the problem document's `code` (or the `error` of a
    device login); `connection_failed` if no complete answer came; `unexpected_answer` if the answer
    was not the service's own.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        status: Optional[int] = None,
        request_id: Optional[str] = None,
        document: Optional[Mapping[str, Any]] = None,
        retry_after_seconds: Optional[int] = None,
    ) -> None:
        super().__init__(f"{detail} ({code}, request {request_id})" if request_id else f"{detail} ({code})")
        self.code = code
        self.detail = detail
        # None if no answer came.
        self.status = status
        # The id of the request, which the operator of the service needs to find it.
        self.request_id = request_id
        # The whole problem document with `parameter`, `index`, `suggestions` and all other members.
        # Empty if the service sent none.
        self.document: Dict[str, Any] = dict(document or {})
        self.retry_after_seconds = retry_after_seconds

    @property
    def parameter(self) -> Optional[str]:
        """The name of the parameter that was wrong."""
        return self.document.get("parameter")

    @property
    def index(self) -> Optional[int]:
        """The position, from 0, of the image that was wrong, in a request for several."""
        return self.document.get("index")


class InsufficientCreditsError(CycloramaError):
    """402: a person must buy credits or raise a cap. The client does not repeat the request."""

    @property
    def balance(self) -> Optional[int]:
        return self.document.get("balance")

    @property
    def required_credits(self) -> Optional[int]:
        return self.document.get("required_credits")


class UnauthorizedError(CycloramaError):
    """401: the key is missing, wrong or revoked."""


class NotFoundError(CycloramaError):
    """404: the vehicle, image or entry does not exist."""


class RateLimitedError(CycloramaError):
    """429, after all retries."""


class UnavailableError(CycloramaError):
    """503 or no connection, after all retries."""


_CLASSES = {
    401: UnauthorizedError,
    402: InsufficientCreditsError,
    404: NotFoundError,
    429: RateLimitedError,
    503: UnavailableError,
}


def from_answer(status: int, headers: Mapping[str, str], document: Any, is_device_poll: bool = False) -> CycloramaError:
    """Makes an error of an answer. `document` is the body's JSON, or None if the body is not JSON.
    With `is_device_poll`, a refusal may have the form of RFC 6749."""
    code = _code_of(status, document, is_device_poll)
    known = document if code else {}
    return _CLASSES.get(status, CycloramaError)(
        code or "unexpected_answer",
        str(known.get("detail") or code or f"The response has status {status} and is not a problem document of the service."),
        status=status,
        request_id=known.get("request_id") or headers.get("x-request-id"),
        document=known,
        retry_after_seconds=_retry_after(headers.get("retry-after", ""), headers.get("date", "")),
    )


def _code_of(status: int, document: Any, is_device_poll: bool) -> Optional[str]:
    """Returns the code of a refusal by the service itself: a problem document has `code`,
    `request_id` and the answer's `status`; a refused poll of a device login has `error` and
    `request_id`. None for any other document, because a gateway may answer with JSON of its own."""
    if not isinstance(document, dict) or not _is_text(document.get("request_id")):
        return None
    code, told, error = document.get("code"), document.get("status"), document.get("error")
    if _is_text(code) and type(told) is int and told == status:
        return code
    return error if is_device_poll and _is_text(error) else None


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _retry_after(text: str, date: str) -> Optional[int]:
    """Returns the seconds to wait, for both forms of the header (RFC 9110, 10.2.3): a number of
    seconds, or a date. A date is compared with the answer's own `Date` where it has one, so that a
    client whose clock is wrong waits for the intended time. A date in the past means no wait."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        # Python refuses to convert numbers with thousands of digits.
        return int(text[:18])
    until = _moment(text)
    if until is None:
        return None
    return max(0, int((until - (_moment(date) or datetime.now(timezone.utc))).total_seconds()))


def _moment(text: str) -> Optional[datetime]:
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError):
        return None
    # HTTP dates are in GMT, which the oldest form leaves out.
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)


def connection_failed(cause: object) -> UnavailableError:
    return UnavailableError("connection_failed", f"No complete response arrived: {cause}")
