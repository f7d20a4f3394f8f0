"""Runs `sdk/scenarios.json` with this client against the service at CYCLORAMA_URL.
`scripts/test_sdks.sh` starts a service and makes the keys."""

import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Dict, List, Optional
from urllib.parse import parse_qs, urlsplit

import cyclorama
from cyclorama import Cyclorama, CycloramaError, Retries, sign_partner_url

SDK = Path(__file__).parents[2]
URL = os.environ["CYCLORAMA_URL"]
PREFIX = "CYCLORAMA_TEST_"


class Upstream:
    """A service that fails in the ways that a scenario sets."""

    def __init__(self, answers: List[Dict[str, Any]]) -> None:
        self.requests: List[Dict[str, str]] = []
        upstream = self

        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                self.rfile.read(int(self.headers.get("content-length", 0)))
                answer = answers[min(len(upstream.requests), len(answers) - 1)]
                upstream.requests.append({name.lower(): value for name, value in self.headers.items()})
                if answer.get("broken") == "before":
                    self.close_connection = True
                    return
                broken = answer.get("broken") == "amid"
                body = answer.get("text", json.dumps(answer.get("body", {}))).encode()
                self.send_response(answer.get("status", 200))
                for name, value in answer.get("headers", {}).items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(body) + (1000 if broken else 0)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_HEAD = _answer

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def as_json(result: Any) -> Any:
    if isinstance(result, cyclorama.ImageInfo):
        members = {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
        content: Optional[bytes] = members.pop("content", None)
        return {**members, "bytes": None if content is None else len(content)}
    if dataclasses.is_dataclass(result):
        return {field.name.rstrip("_"): as_json(getattr(result, field.name)) for field in dataclasses.fields(result)}
    if isinstance(result, list):
        return [as_json(item) for item in result]
    return result


def at(value: Any, path: str) -> Any:
    for name in filter(None, path.split(".")):
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


class Scenarios(unittest.TestCase):
    def setUp(self) -> None:
        self.known: Dict[str, Any] = {name[len(PREFIX) :].lower(): value for name, value in os.environ.items() if name.startswith(PREFIX)}
        self.known["run"] = str(uuid.uuid4())
        self.main = Cyclorama(URL, self.known["main_key"])

    def test_scenarios(self) -> None:
        for scenario in json.loads((SDK / "scenarios.json").read_text("utf-8"))["scenarios"]:
            with self.subTest(scenario["name"]):
                self.run_scenario(scenario)

    def run_scenario(self, scenario: Dict[str, Any]) -> None:
        upstream = Upstream(scenario["upstream"]) if "upstream" in scenario else None
        waits: List[float] = []
        client = Cyclorama(
            upstream.url if upstream else scenario.get("url", URL),
            self.known[scenario["key"]] if scenario["key"] else "",
            retries=Retries(attempts=scenario.get("attempts", 4)),
            sleep=time.sleep if scenario.get("real_waits") else waits.append,
        )
        try:
            for step in scenario["steps"]:
                self.run_step(client, step)
        finally:
            if upstream:
                upstream.stop()
        if "waits" in scenario:
            self.assertEqual(len(waits), len(scenario["waits"]), waits)
            for wait, (least, most) in zip(waits, scenario["waits"]):
                self.assertTrue(least <= wait <= most, f"{wait} is not {least} to {most}")
        if upstream:
            keys = {request.get("idempotency-key") for request in upstream.requests}
            self.assertEqual(len(upstream.requests), scenario["requests"])
            self.assertEqual({request.get("authorization") for request in upstream.requests}, {f"Bearer {self.known['main_key']}"})
            if scenario.get("same_idempotency_key"):
                self.assertEqual(len(keys), 1)
                self.assertGreaterEqual(len(keys.pop() or ""), 32)
            if "idempotency_key" in scenario:
                self.assertEqual(keys, {scenario["idempotency_key"]})

    def run_step(self, client: Cyclorama, step: Dict[str, Any]) -> None:
        if "after" in step:
            time.sleep(max(0.0, float(self.filled(step["after"])) - time.time() + 1))
        balance = self.main.get_account().data.credits if "spends" in step else 0
        for left in reversed(range(step.get("repeat", 1))):
            try:
                result = self.call(client, step["call"], self.filled(step.get("arguments", {})), step)
            except CycloramaError as error:
                self.assertIn("error", step, error)
                self.check_error(step["error"], error)
                break
            if "error" in step:
                self.assertTrue(left, f"{step['call']} succeeded")
                continue
            document = as_json(result)
            self.check(self.filled(step["expect"]), document, step["call"])
            for name, path in step.get("save", {}).items():
                self.known[name] = at(document, path) if path else result
        if "spends" in step:
            self.assertEqual(balance - self.main.get_account().data.credits, step["spends"])

    def call(self, client: Cyclorama, name: str, arguments: Dict[str, Any], step: Dict[str, Any]) -> Any:
        if name == "signPartnerUrl":
            expires_at = int(time.time()) + arguments.pop("expires_in")
            query = parse_qs(urlsplit(sign_partner_url(URL, expires_at=expires_at, **arguments)).query)
            return {"exp": int(query["exp"][0]), "sig": query["sig"][0]}
        if name == "approveDeviceLogin":
            subprocess.run([sys.executable, str(SDK / "approve_device_login.py"), URL, arguments["user_code"]], check=True)
            return {}
        if name == "saveCarImage":
            with tempfile.TemporaryDirectory() as folder:
                try:
                    info = client.save_car_image(Path(folder) / "car.png", **arguments)
                finally:
                    left = [path.name for path in Path(folder).iterdir()]
                    self.assertEqual(left, [] if step.get("error") else ["car.png"])
                return {**as_json(info), "bytes": (Path(folder) / "car.png").stat().st_size}
        if name == "statementLines":
            return {"lines": as_json(list(client.statement_lines()))}
        if name == "statementCsv":
            parts = list(client.statement_csv(**arguments))
            return {"parts": parts, "text": "".join(parts)}
        return getattr(client, re.sub("([A-Z])", r"_\1", name).lower())(**arguments)

    def filled(self, value: Any) -> Any:
        """Replaces `${name}` by the known value. A text that is only such a name gets the type of
        the value."""
        if isinstance(value, dict):
            return {name: self.filled(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.filled(item) for item in value]
        if not isinstance(value, str):
            return value
        whole = re.fullmatch(r"\$\{(\w+)\}", value)
        if whole:
            return self.known[whole[1]]
        return re.sub(r"\$\{(\w+)\}", lambda found: str(self.known[found[1]]), value)

    def check_error(self, expected: Dict[str, Any], error: CycloramaError) -> None:
        self.assertEqual(type(error).__name__, expected["kind"], error)
        for name, value in expected.items():
            if name != "kind":
                self.check(value, getattr(error, name), name)

    def check(self, expected: Any, value: Any, place: str) -> None:
        if isinstance(expected, dict):
            if "$any" in expected:
                return
            if "$at_least" in expected:
                self.assertGreaterEqual(value, expected["$at_least"], place)
            elif "$matches" in expected:
                self.assertRegex(value, expected["$matches"], place)
            elif "$length" in expected:
                self.assertEqual(len(value), expected["$length"], place)
            elif "$longer_than" in expected:
                self.assertGreater(len(value), expected["$longer_than"], place)
            else:
                for name, item in expected.items():
                    self.assertIsInstance(value, dict, place)
                    self.check(item, value.get(name), f"{place}.{name}")
        elif isinstance(expected, list):
            self.assertEqual(len(value), len(expected), place)
            for number, item in enumerate(expected):
                self.check(item, value[number], f"{place}.{number}")
        else:
            self.assertEqual(value, expected, place)


if __name__ == "__main__":
    unittest.main()
