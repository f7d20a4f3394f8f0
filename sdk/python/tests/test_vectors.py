"""Tests with the vectors that all clients share (`sdk/vectors`): partner signatures, and attributes
of images in pages."""

import json
import unittest
from pathlib import Path
from urllib.parse import urlsplit

from cyclorama import car_image_attributes, car_image_html, sign_partner_url, verify_partner_url
from cyclorama.json_decoding import decode
from cyclorama.types import DeliveryUrl

VECTORS = Path(__file__).parents[2] / "vectors"


class Vectors(unittest.TestCase):
    def test_partner_urls_are_signed(self) -> None:
        for row in json.loads((VECTORS / "partner-signatures.json").read_text("utf-8"))["sign"]:
            with self.subTest(row["name"]):
                signed = sign_partner_url(row["url"], row["secret"], row["parameters"], expires_at=row["expires_at"])
                self.assertEqual(signed, row["signed_url"])
                parts = urlsplit(signed)
                self.assertEqual(f"{parts.path}?{parts.query}".rpartition("&sig=")[0], row["text"])

    def test_partner_urls_are_verified(self) -> None:
        for row in json.loads((VECTORS / "partner-signatures.json").read_text("utf-8"))["verify"]:
            with self.subTest(row["name"]):
                self.assertEqual(verify_partner_url(row["url"], row["secret"], now=row["now"]), row["verdict"])

    def test_what_signing_adds_is_not_given(self) -> None:
        for name in ("exp", "sig"):
            with self.assertRaisesRegex(ValueError, name):
                sign_partner_url("https://x.example", "s", {name: "1"}, expires_at=1)

    def test_pictures_in_pages(self) -> None:
        for row in json.loads((VECTORS / "image-attributes.json").read_text("utf-8"))["rows"]:
            with self.subTest(row["name"]):
                urls = [decode(DeliveryUrl, url) for url in row["urls"]]
                self.assertEqual(car_image_attributes(urls, **row["options"]), row["attributes"])
                self.assertEqual(car_image_html(urls, **row["options"]), row["html"])
        with self.assertRaisesRegex(ValueError, "urls"):
            car_image_attributes([])


if __name__ == "__main__":
    unittest.main()
