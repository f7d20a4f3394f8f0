"""Sends one request with its repetitions over `urllib`: which bytes are sent, when they are sent
again, and how an answer is read. It knows no operation."""

from __future__ import annotations

import http.client
import json
import random
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, TypeVar

from . import errors

Result = TypeVar("Result")

_FIRST_WAIT_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 20.0
_CHUNK_BYTES = 64 * 1024
# Maximum number of redirects. A URL that is not in its canonical form is redirected to that; more
# redirects are a loop.
_REDIRECTS_MAX = 2
# After these errors nothing has reached the service, so that sending the request again can do
# nothing twice.
_NOT_SENT = (ConnectionRefusedError, socket.gaierror)


@dataclass(frozen=True)
class Retries:
    """When a request is sent again: after 429, 503 and a lost connection, never after 402.

    A request that spends credits and has no idempotency key is sent again only if the service
    itself has refused it, or if nothing has reached the service.
    """

    # Maximum number of attempts after the first; 0 for none.
    attempts: int = 4
    # A longer `Retry-After` than this is returned to the caller as an error.
    longest_retry_after_seconds: int = 60


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, Optional[str]] = field(default_factory=dict)
    # Sent as JSON.
    body: Any = None
    # True if the request may be sent again when it is unknown whether it was done: it spends
    # nothing, or has an Idempotency-Key.
    repeatable: bool = True
    # True if refusals have the form of RFC 6749 instead of a problem document.
    is_device_poll: bool = False


class Answer:
    """An answer whose body has not been read."""

    def __init__(self, response: Any, method: str) -> None:
        self._response = response
        self._is_head = method == "HEAD"
        self.status: int = response.status
        self.headers = {name.lower(): value for name, value in response.headers.items()}

    def __enter__(self) -> Answer:
        return self

    def __exit__(self, *_: object) -> None:
        self._response.close()

    def chunks(self) -> Iterator[bytes]:
        """Yields the body to its last byte, or raises an error."""
        # Answers to HEAD have the length of the body that GET would send.
        length = "" if self._is_head else self.headers.get("content-length", "")
        missing = int(length) if length.isdigit() else None
        try:
            while True:
                chunk = self._response.read(_CHUNK_BYTES)
                if not chunk:
                    break
                missing = None if missing is None else missing - len(chunk)
                yield chunk
        except (OSError, http.client.HTTPException) as cause:
            raise errors.connection_failed(cause) from cause
        if missing:
            raise errors.connection_failed(f"the response ended {missing} bytes too early")

    def content(self) -> bytes:
        return b"".join(self.chunks())

    def expect_media_type(self, expected: str) -> None:
        """Raises unless the Content-Type is `expected`: a media type, or `image/*` for any image.

        A proxy in between may answer 200 with a page of its own.
        """
        told = self.headers.get("content-type", "")
        media_type = told.partition(";")[0].strip().lower()
        if media_type != expected and not (expected.endswith("/*") and media_type.startswith(expected[:-1])):
            detail = f"The response is not from the service: its Content-Type is `{told}`, not `{expected}`."
            raise errors.CycloramaError("unexpected_answer", detail, status=self.status)

    def document(self) -> Any:
        """The body's JSON; None if the body is not JSON."""
        try:
            return json.loads(self.content())
        except ValueError:
            return None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Prevents redirects, because `urllib` would send the key to any address to which an answer
    redirects."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Transport:
    def __init__(
        self,
        url: str,
        api_key: Optional[str],
        timeout_seconds: float,
        retries: Retries,
        user_agent: str,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.url = url
        self._api_key = api_key
        self._timeout_seconds = timeout_seconds
        self._retries = retries
        self._user_agent = user_agent
        self._sleep = sleep
        self._opener = urllib.request.build_opener(_NoRedirects)

    def send(self, request: Request, read: Callable[[Answer], Result]) -> Result:
        """Sends the request as often as necessary, and returns the result of `read` for a 2xx or
        304 answer."""
        for attempt in range(self._retries.attempts + 1):
            try:
                with self._follow(request) as answer:
                    return read(answer)
            except errors.CycloramaError as error:
                if attempt == self._retries.attempts or not self._may_pass(error, request):
                    raise
                # Full jitter, so that clients that failed together do not return together.
                wait = random.uniform(0, min(_LONGEST_WAIT_SECONDS, _FIRST_WAIT_SECONDS * 2**attempt))
                self._sleep((error.retry_after_seconds or 0) + wait)
        raise AssertionError("the last attempt returns or raises")

    def _may_pass(self, error: errors.CycloramaError, request: Request) -> bool:
        if error.retry_after_seconds is not None and error.retry_after_seconds > self._retries.longest_retry_after_seconds:
            return False
        if error.status is None:
            return request.repeatable or isinstance(error.__cause__, _NOT_SENT)
        # The first attempt of this very request is still being processed.
        if error.code == "idempotency_key_in_use":
            return True
        # A gateway has answered, so it is unknown whether the service has done the request.
        if error.code == "unexpected_answer" and not request.repeatable:
            return False
        # A device that polls too fast must slow down, and the caller controls how often it polls.
        return error.status in (429, 503) and error.code != "slow_down"

    def _follow(self, request: Request) -> Answer:
        target = self.url + request.path
        query = {
            name: str(value).lower() if isinstance(value, bool) else value
            for name, value in request.query.items()
            if value is not None
        }
        if query:
            target += "?" + urllib.parse.urlencode(query)
        for _ in range(_REDIRECTS_MAX + 1):
            answer = self._once(request, target)
            if answer.status != 308:
                return answer
            with answer:
                location = urllib.parse.urljoin(target, answer.headers.get("location", ""))
            if urllib.parse.urlsplit(location)[:2] != urllib.parse.urlsplit(target)[:2]:
                break
            target = location
        raise errors.CycloramaError("unexpected_answer", "The response redirects elsewhere.", status=308)

    def _once(self, request: Request, target: str) -> Answer:
        headers: Dict[str, str] = {"User-Agent": self._user_agent}
        headers.update({name: value for name, value in request.headers.items() if value is not None})
        if self._api_key:
            headers["Authorization"] = f"Bearer {self._api_key}"
        body = None
        if request.body is not None:
            body = json.dumps(request.body).encode()
            headers["Content-Type"] = "application/json"
        sent = urllib.request.Request(target, data=body, headers=headers, method=request.method)
        try:
            return Answer(self._opener.open(sent, timeout=self._timeout_seconds), request.method)
        except urllib.error.HTTPError as response:
            answer = Answer(response, request.method)
            if answer.status in (304, 308):
                return answer
            with answer:
                document = answer.document()
                raise errors.from_answer(answer.status, answer.headers, document, request.is_device_poll) from None
        except urllib.error.URLError as cause:
            reason = cause.reason if isinstance(cause.reason, Exception) else cause
            raise errors.connection_failed(reason) from reason
        except (OSError, http.client.HTTPException) as cause:
            raise errors.connection_failed(cause) from cause
