"""The client, with one method for each operation of the service, named as in its API document.
Arguments have the names of its parameters and members."""

from __future__ import annotations

import os
import tempfile
import time
import urllib.parse
import uuid
from typing import Any, Callable, Dict, Iterator, Literal, Mapping, Optional, Sequence, Tuple, Type, TypeVar, overload

from . import errors
from .json_decoding import decode
from .transport import Answer, Request, Retries, Transport
from .types import (
    AccountResponse,
    AskedBody,
    AskedColor,
    AskedFinish,
    AskedFormat,
    AskedView,
    AskedYear,
    Background,
    CarImage,
    CheckoutResponse,
    CheckResponse,
    CheckRow,
    DeviceCodeResponse,
    DeviceTokenResponse,
    Event,
    EventsResponse,
    FeedbackResponse,
    Fit,
    Health,
    ImageInfo,
    ImageOptionsResponse,
    ImageRequest,
    ImageUrlResponse,
    ImageUrlsResponse,
    MakeList,
    ModelList,
    ModelsOfIdList,
    ModelYearList,
    PortalResponse,
    ResolveResponse,
    Scale,
    SearchResults,
    Shadow,
    SizePreset,
    StatementLine,
    StatementResponse,
    VehicleResponse,
    VehiclesResponse,
    VinResponse,
    YearList,
)

VERSION = "0.1.0"
_Result = TypeVar("_Result")


class Cyclorama:
    """A client of the service. If `url` and `api_key` are not given, they come from `CYCLORAMA_URL`
    and `CYCLORAMA_KEY`. Public operations need no key. The first render of an image may take two
    minutes.

    Every method raises `CycloramaError` or one of its subclasses. The client sends a request again
    after 429 and 503. After a lost connection, or a 503 that does not come from the service itself,
    it does so only if no credit can be spent twice. Several threads may use one client.

    With `format="auto"` an image is png, or jpg if a background is given, unless `accept` has other
    acceptable media types, such as `image/avif,image/webp`. Without `accept` the client sends
    `*/*`, for which the service selects neither of these, because many programs read neither.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        api_key: Optional[str] = None,
        *,
        timeout_seconds: float = 180.0,
        retries: Retries = Retries(),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        url = (url or os.environ.get("CYCLORAMA_URL") or "").rstrip("/")
        if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
            raise ValueError("Give the URL of the service as `url` or in CYCLORAMA_URL, such as https://images.example.com")
        api_key = os.environ.get("CYCLORAMA_KEY") if api_key is None else api_key
        self._sleep = sleep
        self._transport = Transport(url, api_key, timeout_seconds, retries, f"cyclorama-python/{VERSION}", sleep)

    # --- images -----------------------------------------------------------------------------------

    def get_car_image(
        self,
        *,
        year: AskedYear,
        make: Optional[str] = None,
        model: Optional[str] = None,
        vehicle: Optional[str] = None,
        body: Optional[AskedBody] = None,
        view: Optional[AskedView] = None,
        color: Optional[AskedColor] = None,
        w: Optional[int] = None,
        h: Optional[int] = None,
        size: Optional[SizePreset] = None,
        format: Optional[AskedFormat] = None,
        fit: Optional[Fit] = None,
        trim: Optional[bool] = None,
        padding: Optional[int] = None,
        background: Optional[Background] = None,
        shadow: Optional[Shadow] = None,
        scale: Optional[Scale] = None,
        finish: Optional[AskedFinish] = None,
        if_none_match: Optional[str] = None,
        request_id: Optional[str] = None,
        accept: Optional[str] = None,
    ) -> CarImage:
        """Returns an image, for one credit. It is free if it is still the one that `if_none_match`
        names. The vehicle is `make` and `model`, or its permanent id as `vehicle`."""
        query = dict(make=make, model=model, vehicle=vehicle, year=year, body=body, view=view, color=color)
        query.update(w=w, h=h, size=size, format=format)
        query.update(fit=fit, trim=trim, padding=padding, background=background, shadow=shadow, scale=scale, finish=finish)
        return self._transport.send(_picture("GET", query, if_none_match, request_id, accept=accept), _car_image)

    def save_car_image(
        self,
        path: "str | os.PathLike[str]",
        *,
        year: AskedYear,
        make: Optional[str] = None,
        model: Optional[str] = None,
        vehicle: Optional[str] = None,
        body: Optional[AskedBody] = None,
        view: Optional[AskedView] = None,
        color: Optional[AskedColor] = None,
        w: Optional[int] = None,
        h: Optional[int] = None,
        size: Optional[SizePreset] = None,
        format: Optional[AskedFormat] = None,
        fit: Optional[Fit] = None,
        trim: Optional[bool] = None,
        padding: Optional[int] = None,
        background: Optional[Background] = None,
        shadow: Optional[Shadow] = None,
        scale: Optional[Scale] = None,
        finish: Optional[AskedFinish] = None,
        if_none_match: Optional[str] = None,
        request_id: Optional[str] = None,
        accept: Optional[str] = None,
    ) -> ImageInfo:
        """Saves an image as `get_car_image` returns it to a file, which appears complete or not at
        all. The format does not depend on the file's name."""
        query = dict(make=make, model=model, vehicle=vehicle, year=year, body=body, view=view, color=color)
        query.update(w=w, h=h, size=size, format=format)
        query.update(fit=fit, trim=trim, padding=padding, background=background, shadow=shadow, scale=scale, finish=finish)
        return self._transport.send(_picture("GET", query, if_none_match, request_id, accept=accept), lambda answer: _save(answer, path))

    def head_car_image(
        self,
        *,
        year: AskedYear,
        make: Optional[str] = None,
        model: Optional[str] = None,
        vehicle: Optional[str] = None,
        body: Optional[AskedBody] = None,
        view: Optional[AskedView] = None,
        color: Optional[AskedColor] = None,
        w: Optional[int] = None,
        h: Optional[int] = None,
        size: Optional[SizePreset] = None,
        format: Optional[AskedFormat] = None,
        fit: Optional[Fit] = None,
        trim: Optional[bool] = None,
        padding: Optional[int] = None,
        background: Optional[Background] = None,
        shadow: Optional[Shadow] = None,
        scale: Optional[Scale] = None,
        finish: Optional[AskedFinish] = None,
        if_none_match: Optional[str] = None,
        accept: Optional[str] = None,
    ) -> ImageInfo:
        """Returns the headers that `get_car_image` would return. Free; never renders."""
        query = dict(make=make, model=model, vehicle=vehicle, year=year, body=body, view=view, color=color)
        query.update(w=w, h=h, size=size, format=format)
        query.update(fit=fit, trim=trim, padding=padding, background=background, shadow=shadow, scale=scale, finish=finish)
        return self._transport.send(_picture("HEAD", query, if_none_match, None, accept=accept), _image_info)

    def get_car_image_url(
        self,
        *,
        year: AskedYear,
        make: Optional[str] = None,
        model: Optional[str] = None,
        vehicle: Optional[str] = None,
        body: Optional[AskedBody] = None,
        view: Optional[AskedView] = None,
        color: Optional[AskedColor] = None,
        w: Optional[int] = None,
        h: Optional[int] = None,
        size: Optional[SizePreset] = None,
        format: Optional[AskedFormat] = None,
        fit: Optional[Fit] = None,
        trim: Optional[bool] = None,
        padding: Optional[int] = None,
        background: Optional[Background] = None,
        shadow: Optional[Shadow] = None,
        scale: Optional[Scale] = None,
        finish: Optional[AskedFinish] = None,
        request_id: Optional[str] = None,
    ) -> ImageUrlResponse:
        """Creates a signed URL of the image, for one credit. The URL does not contain the key."""
        query = dict(make=make, model=model, vehicle=vehicle, year=year, body=body, view=view, color=color)
        query.update(w=w, h=h, size=size, format=format)
        query.update(fit=fit, trim=trim, padding=padding, background=background, shadow=shadow, scale=scale, finish=finish)
        query.update(response="url")
        return self._json(ImageUrlResponse, _picture("GET", query, None, request_id))

    def create_image_urls(
        self,
        images: Sequence[ImageRequest],
        *,
        ttl_seconds: Optional[int] = None,
        max_uses: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> ImageUrlsResponse:
        """Creates signed URLs of 1 to 50 images, for one credit each; either all are created or
        none. Loading them is free until they expire."""
        body: Dict[str, Any] = {"images": list(images)}
        body.update(_given(ttl_seconds=ttl_seconds, max_uses=max_uses))
        headers = {"Idempotency-Key": idempotency_key or str(uuid.uuid4())}
        return self._json(ImageUrlsResponse, Request("POST", "/api/v1/image-urls", headers=headers, body=body))

    def load_delivery(self, url: str, *, if_none_match: Optional[str] = None, accept: Optional[str] = None) -> CarImage:
        """Loads the image of a signed URL, or of its token alone. Free."""
        headers = {"If-None-Match": if_none_match, "Accept": accept or "*/*"}
        # A load may use up a signed URL, so it must not be repeated.
        request = Request("GET", _delivery_path(url), headers=headers, repeatable=False)
        return self._transport.send(request, _car_image)

    def save_delivery(
        self,
        path: "str | os.PathLike[str]",
        url: str,
        *,
        if_none_match: Optional[str] = None,
        accept: Optional[str] = None,
    ) -> ImageInfo:
        """Saves the image of a signed URL to a file, which appears complete or not at all."""
        headers = {"If-None-Match": if_none_match, "Accept": accept or "*/*"}
        request = Request("GET", _delivery_path(url), headers=headers, repeatable=False)
        return self._transport.send(request, lambda answer: _save(answer, path))

    def check_delivery(self, url: str, *, if_none_match: Optional[str] = None, accept: Optional[str] = None) -> ImageInfo:
        """Checks that a signed URL is valid, without using up one of its loads. `modified` is false
        if its image is still the one that `if_none_match` names."""
        headers = {"If-None-Match": if_none_match, "Accept": accept or "*/*"}
        return self._transport.send(Request("HEAD", _delivery_path(url), headers=headers), _image_info)

    def embed_car_image(
        self,
        *,
        year: AskedYear,
        make: Optional[str] = None,
        model: Optional[str] = None,
        vehicle: Optional[str] = None,
        body: Optional[AskedBody] = None,
        view: Optional[AskedView] = None,
        color: Optional[AskedColor] = None,
        w: Optional[int] = None,
        h: Optional[int] = None,
        size: Optional[SizePreset] = None,
        format: Optional[AskedFormat] = None,
        fit: Optional[Fit] = None,
        trim: Optional[bool] = None,
        padding: Optional[int] = None,
        background: Optional[Background] = None,
        shadow: Optional[Shadow] = None,
        scale: Optional[Scale] = None,
        finish: Optional[AskedFinish] = None,
        mode: Optional[Literal["cached"]] = None,
        exp: Optional[int] = None,
        sig: Optional[str] = None,
        if_none_match: Optional[str] = None,
        accept: Optional[str] = None,
    ) -> CarImage:
        """Returns an image of the legacy endpoint. With `exp` and `sig`, or with `mode="cached"`,
        it is free; else it costs one credit."""
        query = dict(make=make, model=model, vehicle=vehicle, year=year, body=body, view=view, color=color)
        query.update(w=w, h=h, size=size, format=format)
        query.update(fit=fit, trim=trim, padding=padding, background=background, shadow=shadow, scale=scale, finish=finish)
        query.update(mode=mode, exp=exp, sig=sig)
        return self._transport.send(_picture("GET", query, if_none_match, None, "/images/car.png", accept), _car_image)

    def head_embed_car_image(
        self,
        *,
        year: AskedYear,
        make: Optional[str] = None,
        model: Optional[str] = None,
        vehicle: Optional[str] = None,
        body: Optional[AskedBody] = None,
        view: Optional[AskedView] = None,
        color: Optional[AskedColor] = None,
        w: Optional[int] = None,
        h: Optional[int] = None,
        size: Optional[SizePreset] = None,
        format: Optional[AskedFormat] = None,
        fit: Optional[Fit] = None,
        trim: Optional[bool] = None,
        padding: Optional[int] = None,
        background: Optional[Background] = None,
        shadow: Optional[Shadow] = None,
        scale: Optional[Scale] = None,
        finish: Optional[AskedFinish] = None,
        mode: Optional[Literal["cached"]] = None,
        exp: Optional[int] = None,
        sig: Optional[str] = None,
        accept: Optional[str] = None,
    ) -> ImageInfo:
        """Returns the headers that `embed_car_image` would return. Free; never renders."""
        query = dict(make=make, model=model, vehicle=vehicle, year=year, body=body, view=view, color=color)
        query.update(w=w, h=h, size=size, format=format)
        query.update(fit=fit, trim=trim, padding=padding, background=background, shadow=shadow, scale=scale, finish=finish)
        query.update(mode=mode, exp=exp, sig=sig)
        return self._transport.send(_picture("HEAD", query, None, None, "/images/car.png", accept), _image_info)

    # --- finding vehicles -------------------------------------------------------------------------

    def resolve_image(
        self,
        query: Optional[str] = None,
        *,
        vin: Optional[str] = None,
        year: Optional[int] = None,
        make: Optional[str] = None,
        model: Optional[str] = None,
    ) -> ResolveResponse:
        """Returns the vehicle and image that a few words mean, such as `navy 911 from behind`, or
        the vehicle of a vehicle identification number (`vin`). Free. Let a person decide when
        `confidence` is not `high`."""
        body = _given(query=query, vin=vin, year=year, make=make, model=model)
        return self._json(ResolveResponse, Request("POST", "/api/v1/images/resolve", body=body))

    @overload
    def get_vehicles(self) -> VehiclesResponse[YearList]: ...
    @overload
    def get_vehicles(self, *, year: int) -> VehiclesResponse[MakeList]: ...
    @overload
    def get_vehicles(self, *, year: int, make_id: int) -> VehiclesResponse[ModelsOfIdList]: ...
    @overload
    def get_vehicles(
        self, *, q: str, make: Optional[str] = None, year: Optional[int] = None, limit: Optional[int] = None
    ) -> VehiclesResponse[SearchResults]: ...
    @overload
    def get_vehicles(self, *, make: str, year: Optional[int] = None) -> VehiclesResponse[ModelList]: ...
    @overload
    def get_vehicles(self, *, make: str, model: str) -> VehiclesResponse[ModelYearList]: ...

    def get_vehicles(
        self,
        *,
        year: Optional[int] = None,
        make_id: Optional[int] = None,
        q: Optional[str] = None,
        limit: Optional[int] = None,
        make: Optional[str] = None,
        model: Optional[str] = None,
    ) -> Any:
        """Returns a part of the catalog: years, makes of a year, models of a make, years of a
        model, or the results of a search (within one make if it is given). Free."""
        variant: Type[Any] = YearList
        if q is not None:
            variant = SearchResults
        elif make is not None:
            variant = ModelList if model is None else ModelYearList
        elif year is not None:
            variant = MakeList if make_id is None else ModelsOfIdList
        query = dict(year=year, makeId=make_id, q=q, limit=limit, make=make, model=model)
        document = self._document(Request("GET", "/api/v1/vehicles", query=query))
        try:
            return VehiclesResponse(decode(variant, document["data"]), document["request_id"])
        except (KeyError, TypeError, ValueError) as cause:
            raise _unexpected(cause) from cause

    def get_vehicle(self, id: str) -> VehicleResponse:
        """Returns a vehicle by its permanent id: names, years, bodies, generations, and the images
        that are stored. Free."""
        return self._json(VehicleResponse, Request("GET", "/api/v1/vehicles/" + urllib.parse.quote(id, safe="")))

    def check_vehicles(self, vehicles: Sequence[CheckRow]) -> CheckResponse:
        """Checks 1 to 100 vehicles against the catalog, and returns the nearest vehicle for each
        that it does not have. A nearest vehicle is marked as a suggestion, never as a match.
        Free."""
        body = {"vehicles": list(vehicles)}
        return self._json(CheckResponse, Request("POST", "/api/v1/vehicles/check", body=body))

    def decode_vin(self, vin: str, *, year: Optional[int] = None) -> VinResponse:
        """Returns the vehicle of a vehicle identification number (VIN). `year` helps where the
        number leaves the model year open. Free."""
        path = "/api/v1/vehicles/vin/" + urllib.parse.quote(vin, safe="")
        return self._json(VinResponse, Request("GET", path, query=dict(year=year)))

    def get_image_options(self) -> ImageOptionsResponse:
        """Returns views, colors, sizes, formats, prices and limits. Free."""
        return self._json(ImageOptionsResponse, Request("GET", "/api/v1/images/options"))

    # --- account ----------------------------------------------------------------------------------

    def get_account(self) -> AccountResponse:
        return self._json(AccountResponse, Request("GET", "/api/v1/account"))

    def get_statement(self, *, after: Optional[str] = None, limit: Optional[int] = None) -> StatementResponse:
        """Returns one page of the account's statement, oldest entry first."""
        query = dict(after=after, limit=limit)
        return self._json(StatementResponse, Request("GET", "/api/v1/account/statement", query=query))

    def statement_lines(self, *, after: Optional[str] = None) -> Iterator[StatementLine]:
        """Yields the entries of the statement to its end. Pages are requested as they are
        needed."""
        while True:
            page = self.get_statement(after=after)
            yield from page.data
            if page.next_after is None:
                return
            after = page.next_after

    def statement_csv(self, *, after: Optional[str] = None, limit: Optional[int] = None) -> Iterator[str]:
        """Yields the statement as CSV to its end: a heading, then parts of whole lines (`limit`
        entries each)."""
        is_first = True
        while True:
            query = dict(after=after, limit=limit, format="csv")
            request = Request("GET", "/api/v1/account/statement", query=query)
            text, after = self._transport.send(request, _csv_page)
            yield text if is_first else text.partition("\n")[2]
            if after is None:
                return
            is_first = False

    def rate_image(
        self,
        *,
        request_id: Optional[str] = None,
        make: Optional[str] = None,
        model: Optional[str] = None,
        vehicle: Optional[str] = None,
        year: Optional[int] = None,
        body: Optional[AskedBody] = None,
        view: Optional[AskedView] = None,
        color: Optional[AskedColor] = None,
        finish: Optional[AskedFinish] = None,
        shadow: Optional[Shadow] = None,
        rating: Optional[int] = None,
        verdict: Optional[Literal["good", "bad"]] = None,
        reason: Optional[str] = None,
    ) -> FeedbackResponse:
        """Sends feedback about an image: the one of `request_id`, or of `make` and `model` (or
        `vehicle`) and `year`."""
        document = _given(request_id=request_id, make=make, model=model, vehicle=vehicle, year=year, body=body)
        document.update(_given(view=view, color=color, finish=finish, shadow=shadow, rating=rating, verdict=verdict, reason=reason))
        return self._json(FeedbackResponse, Request("POST", "/api/v1/feedback", body=document, repeatable=False))

    def create_checkout(self, credits: int, *, idempotency_key: Optional[str] = None) -> CheckoutResponse:
        """Creates a page on which a person can buy credits. Creating it is free."""
        headers = {"Idempotency-Key": idempotency_key or str(uuid.uuid4())}
        request = Request("POST", "/api/v1/billing/checkout", headers=headers, body={"credits": credits})
        return self._json(CheckoutResponse, request)

    def create_portal(self) -> PortalResponse:
        """Creates a page on which a person can manage cards and receipts."""
        return self._json(PortalResponse, Request("POST", "/api/v1/billing/portal", repeatable=False))

    # --- device login -----------------------------------------------------------------------------

    def start_device_login(
        self, *, client_name: Optional[str] = None, scope: Optional[str] = None
    ) -> DeviceCodeResponse:
        """Begins a login. Show `verification_uri_complete` to a person, then call
        `wait_for_device_login`."""
        body = _given(client_name=client_name, scope=scope)
        return self._json(DeviceCodeResponse, Request("POST", "/api/auth/device/code", body=body, repeatable=False))

    def poll_device_login(self, device_code: str) -> DeviceTokenResponse:
        """Polls once and returns the API key, which the service sends only once. Until then the
        error's code is `authorization_pending`, `slow_down` or `expired_token`."""
        body = {"device_code": device_code}
        request = Request("POST", "/api/auth/device/token", body=body, repeatable=False, is_device_poll=True)
        return self._json(DeviceTokenResponse, request)

    def wait_for_device_login(self, started: DeviceCodeResponse) -> DeviceTokenResponse:
        """Polls until a person has approved or denied the login, or it has expired
        (`expired_token`)."""
        while True:
            try:
                return self.poll_device_login(started.device_code)
            except errors.CycloramaError as error:
                if error.code not in ("authorization_pending", "slow_down"):
                    raise
                self._sleep(max(started.interval, error.retry_after_seconds or 0))

    # --- other operations -------------------------------------------------------------------------

    def report_events(self, events: Sequence[Event]) -> EventsResponse:
        """Reports 1 to 20 telemetry events."""
        request = Request("POST", "/api/v1/events", body={"events": list(events)}, repeatable=False)
        return self._json(EventsResponse, request)

    def get_health(self) -> Health:
        return self._json(Health, Request("GET", "/api/health"))

    def _document(self, request: Request) -> Any:
        return self._transport.send(request, Answer.document)

    def _json(self, kind: Type[_Result], request: Request) -> _Result:
        try:
            return decode(kind, self._document(request))
        except ValueError as cause:
            raise _unexpected(cause) from cause


def _unexpected(cause: Exception) -> errors.CycloramaError:
    return errors.CycloramaError("unexpected_answer", f"The response is not from the service: {cause}")


def _given(**members: Any) -> Dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _picture(
    method: str,
    query: Mapping[str, Any],
    if_none_match: Optional[str],
    request_id: Optional[str],
    path: str = "/api/v1/images/car",
    accept: Optional[str] = None,
) -> Request:
    headers = {"If-None-Match": if_none_match, "X-Request-Id": request_id, "Accept": accept or "*/*"}
    # A GET request may spend a credit.
    return Request(method, path, query=query, headers=headers, repeatable=method == "HEAD")


def _delivery_path(url: str) -> str:
    return "/api/v1/delivery/" + urllib.parse.quote(urllib.parse.urlsplit(url).path.rsplit("/", 1)[-1], safe="")


def _csv_page(answer: Answer) -> Tuple[str, Optional[str]]:
    """Returns a page of the statement, and the entry after which the next page begins."""
    answer.expect_media_type("text/csv")
    return answer.content().decode(), answer.headers.get("x-next-after")


def _info(answer: Answer) -> Dict[str, Any]:
    """Reads the headers of an image's answer. A 304 answer has no image and therefore no type."""
    if answer.status != 304:
        answer.expect_media_type("image/*")

    def number(name: str) -> Optional[int]:
        text = answer.headers.get(name, "")
        return int(text) if text.isascii() and text.isdigit() else None

    try:
        scale = float(answer.headers["x-image-scale"])
    except (KeyError, TypeError, ValueError):
        scale = None

    return dict(
        modified=answer.status != 304,
        request_id=answer.headers.get("x-request-id", ""),
        media_type=answer.headers.get("content-type"),
        width=number("x-image-width"),
        height=number("x-image-height"),
        scale=scale,
        etag=answer.headers.get("etag"),
        source=answer.headers.get("x-image-source"),
        likeness=answer.headers.get("x-vehicle-likeness"),
        vehicle_match=answer.headers.get("x-vehicle-match"),
        credits_charged=number("x-credits-charged"),
        credits_remaining=number("x-credits-remaining"),
        content_location=answer.headers.get("content-location"),
    )


def _image_info(answer: Answer) -> ImageInfo:
    return ImageInfo(**_info(answer))


def _car_image(answer: Answer) -> CarImage:
    info = _info(answer)
    return CarImage(content=answer.content(), **info)


def _save(answer: Answer, path: "str | os.PathLike[str]") -> ImageInfo:
    info = _image_info(answer)
    if not info.modified:
        return info
    target = os.path.abspath(path)
    # Beside the target, because a rename does not cross file systems.
    descriptor, partial = tempfile.mkstemp(prefix=os.path.basename(target) + ".", suffix=".part", dir=os.path.dirname(target))
    try:
        with os.fdopen(descriptor, "wb") as file:
            for chunk in answer.chunks():
                file.write(chunk)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(partial, 0o666 & ~umask)
        os.replace(partial, target)
    except BaseException:
        os.unlink(partial)
        raise
    return info
