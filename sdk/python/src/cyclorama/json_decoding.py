"""Decodes JSON documents into the classes of `types`. Members that are newer than this package are
left out."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Dict, Type, TypeVar, Union, get_args, get_origin, get_type_hints

Result = TypeVar("Result")

# The type hints of a class are strings until they are resolved, which is slow.
_hints = functools.lru_cache(maxsize=None)(get_type_hints)


def decode(kind: Type[Result], document: Any) -> Result:
    """Decodes a document. Raises `ValueError` with the name of the member for a document that is
    not a `kind`."""
    return _decode(kind, document, kind.__name__)  # type: ignore[no-any-return]


def _decode(kind: Any, value: Any, place: str) -> Any:
    origin = get_origin(kind)
    if origin is Union:  # Optional[...]
        return None if value is None else _decode(get_args(kind)[0], value, place)
    if origin is list:
        return [_decode(get_args(kind)[0], item, place) for item in _expect(list, value, place)]
    if origin is dict:
        return {name: _decode(get_args(kind)[1], item, place) for name, item in _expect(dict, value, place).items()}
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        return value
    members: Dict[str, Any] = {}
    hints = _hints(kind)
    document = _expect(dict, value, place)
    for field in dataclasses.fields(kind):
        # `from` is a keyword of Python, so the field is `from_`.
        name = field.name.rstrip("_")
        if name in document:
            members[field.name] = _decode(hints[field.name], document[name], f"{place}.{name}")
        elif field.default is dataclasses.MISSING:
            raise ValueError(f"{place}.{name} is missing")
    return kind(**members)


def _expect(kind: type, value: Any, place: str) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{place} is not a {kind.__name__}")
    return value
