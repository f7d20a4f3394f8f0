"""Compares operations, parameters and types of this client with the service's API document."""

import dataclasses
import inspect
import json
import os
import re
import unittest
import urllib.request
from typing import Any, Dict, Literal, Set, Tuple, Union, get_args, get_origin, get_type_hints

from cyclorama import Cyclorama, types
from cyclorama.types import CheckRow, Event, ImageRequest

# Operations for render nodes, which this client does not have.
LEFT_OUT = ("/node/",)
# Parameters that only another method of this client sends, or none does: keys do not belong in
# URLs.
NOT_TAKEN = {"getCarImage": {"response"}, "headCarImage": {"response"}, "getStatement": {"format"}, "embedCarImage": {"key"}, "headEmbedCarImage": {"key"}}
NAMES = {"makeId": "make_id", "token": "url", "If-None-Match": "if_none_match", "X-Request-Id": "request_id", "Idempotency-Key": "idempotency_key"}
# Headers that are not useful for an answer that is small or never changes.
HEADERS_NOT_TAKEN = {("getImageOptions", "if_none_match"), ("getVehicles", "if_none_match"), ("headEmbedCarImage", "if_none_match")}
# `Accept` is a header of every request, and not a parameter in API documents.
OWN_ARGUMENTS = {"accept"}


class ApiDocument(unittest.TestCase):
    document: Dict[str, Any]

    @classmethod
    def setUpClass(cls) -> None:
        with urllib.request.urlopen(os.environ["CYCLORAMA_URL"] + "/openapi.json") as answer:
            cls.document = json.load(answer)

    def operations(self) -> Dict[str, Tuple[str, Dict[str, Any]]]:
        paths = self.document["paths"].items()
        return {
            operation["operationId"]: (path, operation)
            for path, methods in paths
            if not path.startswith(LEFT_OUT)
            for method, operation in methods.items()
        }

    def members(self, schema: Dict[str, Any]) -> Tuple[Dict[str, Any], Set[str]]:
        """Returns the properties, and which of them are required. For a choice of schemas these are
        those of the last one (several images, not one)."""
        if "$ref" in schema:
            return self.members(self.document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]])
        if "allOf" in schema:
            return self.members(schema["allOf"][0])
        if "oneOf" in schema:
            return self.members(schema["oneOf"][-1])
        return schema.get("properties", {}), set(schema.get("required", []))

    def test_every_operation_is_a_method(self) -> None:
        methods = {name for name, _ in inspect.getmembers(Cyclorama, inspect.isfunction) if not name.startswith("_")}
        own = {"save_car_image", "get_car_image_url", "save_delivery", "statement_lines", "statement_csv", "wait_for_device_login"}
        self.assertEqual({re.sub("([A-Z])", r"_\1", name).lower() for name in self.operations()}, methods - own)

    def test_methods_take_the_parameters(self) -> None:
        for name, (_, operation) in self.operations().items():
            with self.subTest(name):
                taken = dict(inspect.signature(getattr(Cyclorama, re.sub("([A-Z])", r"_\1", name).lower())).parameters)
                del taken["self"]
                taken = {key: value for key, value in taken.items() if key not in OWN_ARGUMENTS}
                asked = {parameter["name"]: bool(parameter.get("required")) for parameter in operation.get("parameters", [])}
                body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
                if body:
                    properties, required = self.members(body)
                    asked.update({member: member in required for member in properties})
                asked = {NAMES.get(key, key): value for key, value in asked.items() if key not in NOT_TAKEN.get(name, ())}
                asked = {key: value for key, value in asked.items() if (name, key) not in HEADERS_NOT_TAKEN}
                self.assertEqual(asked, {key: value.default is inspect.Parameter.empty for key, value in taken.items()})

    def test_types_have_the_members(self) -> None:
        classes = {name: kind for name, kind in vars(types).items() if dataclasses.is_dataclass(kind) and name not in ("ImageInfo", "CarImage")}
        schemas = self.document["components"]["schemas"]
        self.assertEqual(classes.keys() - schemas.keys(), set())
        self.assertEqual(self.answered() - classes.keys(), set())
        for name, kind in classes.items():
            with self.subTest(name):
                properties, required = self.members(schemas[name])
                fields = {field.name.rstrip("_"): field for field in dataclasses.fields(kind)}
                self.assertEqual(fields.keys(), properties.keys())
                self.assertEqual({key for key, field in fields.items() if field.default is dataclasses.MISSING}, required)
                hints = get_type_hints(kind)
                for key, field in fields.items():
                    if name != "VehiclesResponse":
                        self.assert_fits(hints[field.name], properties[key], f"{name}.{key}")

    def answered(self) -> Set[str]:
        """Returns the schemas of which 2xx JSON answers consist. The variants of the catalog belong
        to `VehiclesResponse`."""
        found: Set[str] = set()

        def visit(value: Any) -> None:
            if isinstance(value, dict):
                name = str(value.get("$ref", "")).rpartition("/")[2]
                if name and name not in found:
                    found.add(name)
                    visit(self.document["components"]["schemas"][name])
                for item in value.values():
                    visit(item)
            elif isinstance(value, list):
                for item in value:
                    visit(item)

        for _, operation in self.operations().values():
            for status, answer in operation["responses"].items():
                if status.startswith("2"):
                    visit(answer)
        return found - {"VehicleList"}

    def test_what_is_asked_has_the_members(self) -> None:
        schemas = self.document["components"]["schemas"]
        event = schemas["EventsRequest"]["properties"]["events"]["items"]
        row = schemas["CheckRequest"]["properties"]["vehicles"]["items"]
        for kind, schema in ((ImageRequest, schemas["ImageRequest"]), (Event, event), (CheckRow, row)):
            properties, required = self.members(schema)
            hints = get_type_hints(kind)
            self.assertEqual(hints.keys(), properties.keys())
            self.assertEqual(kind.__required_keys__, required)
            for key, hint in hints.items():
                self.assert_fits(hint, properties[key], key)

    def assert_fits(self, hint: Any, schema: Dict[str, Any], place: str) -> None:
        alternatives = schema.get("oneOf") or schema.get("anyOf") or [schema]
        given = [item for item in alternatives if item.get("type") != "null"]
        if get_origin(hint) is Union and type(None) in get_args(hint):
            hint = Union[tuple(item for item in get_args(hint) if item is not type(None))]
        if len(given) > 1:
            self.assertEqual(len(get_args(hint)), len(given), place)
            for part, item in zip(get_args(hint), given):
                self.assert_fits(part, item, place)
            return
        if "$ref" in given[0]:
            self.assertEqual(hint.__name__, given[0]["$ref"].rsplit("/", 1)[1], place)
            return
        allowed = given[0].get("enum")
        if allowed and isinstance(allowed[0], str) and hint is not str:
            # A union of literals is flattened here, so that the order does not count.
            literals = [hint] if get_origin(hint) is Literal else list(get_args(hint))
            self.assertEqual({value for literal in literals for value in get_args(literal)}, set(allowed), place)
            return
        if get_origin(hint) is Union and str in get_args(hint):
            # Literals beside it exist for editors to suggest.
            hint = str
        kind: Any = given[0].get("type")
        kind = next((item for item in kind if item != "null"), None) if isinstance(kind, list) else kind
        expected = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}[kind]
        self.assertIs(get_origin(hint) or hint, expected, place)
        if kind == "array":
            self.assert_fits(get_args(hint)[0], given[0]["items"], f"{place}[]")


if __name__ == "__main__":
    unittest.main()
