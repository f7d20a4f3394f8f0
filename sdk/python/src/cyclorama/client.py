"""The service's operations, one method each, named as in its API document. Arguments are named as its parameters and members."""

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
    """A client. `url` and `api_key` come from `CYCLORAMA_URL` and `CYCLORAMA_KEY` when not given; operations that are public need no
    key. The first render of a picture may take two minutes.

    Every method raises `CycloramaError` or one of its subclasses. Requests are sent again after 429 and 503; after a lost connection,
    and a 503 that is not the service's own, only when that can spend nothing twice. A client may be used by several threads.

    With `format="auto"` a picture is png, or jpg where a background is given, unless `accept` names what is welcome, such as
    `image/avif,image/webp`: `Accept` is `*/*` when it is not given, which means neither, since many a program reads neither.
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
            raise ValueError("Give the service's address as `url` or in CYCLORAMA_URL, such as https://images.example.com")
        api_key = os.environ.get("CYCLORAMA_KEY") if api_key is None else api_key
        self._sleep = sleep
        self._transport = Transport(url, api_key, timeout_seconds, retries, f"cyclorama-python/{VERSION}", sleep)

    # --- pictures ---------------------------------------------------------------------------------------------------

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
        """A picture, for one credit; free when it is the one that `if_none_match` names. The vehicle is `make` and `model`, or `vehicle`:
        its permanent id."""
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
        """As `get_car_image`, into a file that is there whole or not at all. The format is not taken from the file's name."""
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
        """What `get_car_image` would say, for nothing. Never renders."""
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
        """A signed address of the picture, for one credit, without a key in it."""
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
        """Signed addresses of 1 to 50 pictures, for one credit each, all or none; free to load until they expire."""
        body: Dict[str, Any] = {"images": list(images)}
        body.update(_given(ttl_seconds=ttl_seconds, max_uses=max_uses))
        headers = {"Idempotency-Key": idempotency_key or str(uuid.uuid4())}
        return self._json(ImageUrlsResponse, Request("POST", "/api/v1/image-urls", headers=headers, body=body))

    def load_delivery(self, url: str, *, if_none_match: Optional[str] = None, accept: Optional[str] = None) -> CarImage:
        """The picture of a signed address (or of its token alone), free."""
        headers = {"If-None-Match": if_none_match, "Accept": accept or "*/*"}
        # A load may use up an address.
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
        """As `load_delivery`, into a file that is there whole or not at all."""
        headers = {"If-None-Match": if_none_match, "Accept": accept or "*/*"}
        request = Request("GET", _delivery_path(url), headers=headers, repeatable=False)
        return self._transport.send(request, lambda answer: _save(answer, path))

    def check_delivery(self, url: str, *, if_none_match: Optional[str] = None, accept: Optional[str] = None) -> ImageInfo:
        """Whether a signed address is good, without using it up; not `modified` when its picture is the one that `if_none_match` names."""
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
        """A picture of the legacy endpoint. With `exp` and `sig`, or `mode="cached"`, it is free; else one credit."""
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
        """What `embed_car_image` would say, for nothing. Never renders."""
        query = dict(make=make, model=model, vehicle=vehicle, year=year, body=body, view=view, color=color)
        query.update(w=w, h=h, size=size, format=format)
        query.update(fit=fit, trim=trim, padding=padding, background=background, shadow=shadow, scale=scale, finish=finish)
        query.update(mode=mode, exp=exp, sig=sig)
        return self._transport.send(_picture("HEAD", query, None, None, "/images/car.png", accept), _image_info)

    # --- finding vehicles -------------------------------------------------------------------------------------------

    def resolve_image(
        self,
        query: Optional[str] = None,
        *,
        vin: Optional[str] = None,
        year: Optional[int] = None,
        make: Optional[str] = None,
        model: Optional[str] = None,
    ) -> ResolveResponse:
        """What a few words mean, such as `navy 911 from behind`, or which vehicle an identification number (`vin`) is of. Free; ask a
        person when `confidence` is not `high`."""
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
        """The catalog, free: years, makes of a year, models of a make, years of a model, or what a search finds (of one make
        where it is given)."""
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
        """A vehicle by its permanent id, free: names, years, bodies, generations, and which pictures exist."""
        return self._json(VehicleResponse, Request("GET", "/api/v1/vehicles/" + urllib.parse.quote(id, safe="")))

    def check_vehicles(self, vehicles: Sequence[CheckRow]) -> CheckResponse:
        """Which of 1 to 100 vehicles there are, and the nearest where there is none. Free, and never a stand-in."""
        body = {"vehicles": list(vehicles)}
        return self._json(CheckResponse, Request("POST", "/api/v1/vehicles/check", body=body))

    def decode_vin(self, vin: str, *, year: Optional[int] = None) -> VinResponse:
        """The vehicle of an identification number, free. `year` helps where the number leaves it open."""
        path = "/api/v1/vehicles/vin/" + urllib.parse.quote(vin, safe="")
        return self._json(VinResponse, Request("GET", path, query=dict(year=year)))

    def get_image_options(self) -> ImageOptionsResponse:
        """Views, colors, sizes, formats, prices and limits. Free."""
        return self._json(ImageOptionsResponse, Request("GET", "/api/v1/images/options"))

    # --- the account ------------------------------------------------------------------------------------------------

    def get_account(self) -> AccountResponse:
        return self._json(AccountResponse, Request("GET", "/api/v1/account"))

    def get_statement(self, *, after: Optional[str] = None, limit: Optional[int] = None) -> StatementResponse:
        """A page of the account's credits, oldest entry first."""
        query = dict(after=after, limit=limit)
        return self._json(StatementResponse, Request("GET", "/api/v1/account/statement", query=query))

    def statement_lines(self, *, after: Optional[str] = None) -> Iterator[StatementLine]:
        """All of the statement, page after page."""
        while True:
            page = self.get_statement(after=after)
            yield from page.data
            if page.next_after is None:
                return
            after = page.next_after

    def statement_csv(self, *, after: Optional[str] = None, limit: Optional[int] = None) -> Iterator[str]:
        """All of the statement as CSV under one heading, in parts of whole lines (of `limit` entries)."""
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
        """Says how good a picture is: the one of `request_id`, or of `make` and `model` (or `vehicle`) and `year`."""
        document = _given(request_id=request_id, make=make, model=model, vehicle=vehicle, year=year, body=body)
        document.update(_given(view=view, color=color, finish=finish, shadow=shadow, rating=rating, verdict=verdict, reason=reason))
        return self._json(FeedbackResponse, Request("POST", "/api/v1/feedback", body=document, repeatable=False))

    def create_checkout(self, credits: int, *, idempotency_key: Optional[str] = None) -> CheckoutResponse:
        """A page on which a person can buy credits. Making it charges nothing."""
        headers = {"Idempotency-Key": idempotency_key or str(uuid.uuid4())}
        request = Request("POST", "/api/v1/billing/checkout", headers=headers, body={"credits": credits})
        return self._json(CheckoutResponse, request)

    def create_portal(self) -> PortalResponse:
        """A page on which a person can look after cards and receipts."""
        return self._json(PortalResponse, Request("POST", "/api/v1/billing/portal", repeatable=False))

    # --- login of devices -------------------------------------------------------------------------------------------

    def start_device_login(
        self, *, client_name: Optional[str] = None, scope: Optional[str] = None
    ) -> DeviceCodeResponse:
        """Begins a login: show `verification_uri_complete` to a person, then `wait_for_device_login`."""
        body = _given(client_name=client_name, scope=scope)
        return self._json(DeviceCodeResponse, Request("POST", "/api/auth/device/code", body=body, repeatable=False))

    def poll_device_login(self, device_code: str) -> DeviceTokenResponse:
        """The key, once, or an error: `authorization_pending`, `slow_down`, `expired_token`."""
        body = {"device_code": device_code}
        request = Request("POST", "/api/auth/device/token", body=body, repeatable=False, is_device_poll=True)
        return self._json(DeviceTokenResponse, request)

    def wait_for_device_login(self, started: DeviceCodeResponse) -> DeviceTokenResponse:
        """Polls until a person has decided or the login has expired (`expired_token`)."""
        while True:
            try:
                return self.poll_device_login(started.device_code)
            except errors.CycloramaError as error:
                if error.code not in ("authorization_pending", "slow_down"):
                    raise
                self._sleep(max(started.interval, error.retry_after_seconds or 0))

    # --- the rest ---------------------------------------------------------------------------------------------------

    def report_events(self, events: Sequence[Event]) -> EventsResponse:
        """Telemetry: 1 to 20 events."""
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
    return errors.CycloramaError("unexpected_answer", f"The answer is none of the service's: {cause}")


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
    # GET may spend a credit.
    return Request(method, path, query=query, headers=headers, repeatable=method == "HEAD")


def _delivery_path(url: str) -> str:
    return "/api/v1/delivery/" + urllib.parse.quote(urllib.parse.urlsplit(url).path.rsplit("/", 1)[-1], safe="")


def _csv_page(answer: Answer) -> Tuple[str, Optional[str]]:
    """A page of the statement, and the entry after which the next page begins."""
    answer.expect_media_type("text/csv")
    return answer.content().decode(), answer.headers.get("x-next-after")


def _info(answer: Answer) -> Dict[str, Any]:
    """What the headers of a picture say. 304 has no picture and therefore no type."""
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
    # Beside the target: a rename does not cross file systems.
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
