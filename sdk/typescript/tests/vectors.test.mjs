// Tests with the vectors that all clients share (`sdk/vectors`): partner signatures, and attributes
// of images in pages.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { carImageAttributes, carImageHtml, signPartnerUrl, verifyPartnerUrl } from "@cyclorama/client";

const read = (name) => JSON.parse(readFileSync(new URL(`../../vectors/${name}.json`, import.meta.url), "utf8"));

test("partner addresses are signed", async () => {
  for (const row of read("partner-signatures").sign) {
    const signed = await signPartnerUrl(row.url, row.secret, row.parameters, row.expires_at);
    assert.equal(signed, row.signed_url, row.name);
    assert.ok(signed.includes(`${row.text}&sig=`), row.name);
  }
});

test("partner addresses are verified", async () => {
  for (const row of read("partner-signatures").verify) {
    assert.equal(await verifyPartnerUrl(row.url, row.secret, row.now), row.verdict, row.name);
  }
});

test("what signing adds is not given", async () => {
  for (const name of ["exp", "sig"]) {
    await assert.rejects(signPartnerUrl("https://x.example", "s", { [name]: "1" }, 1), { name: "TypeError" });
  }
});

test("pictures in pages", () => {
  for (const row of read("image-attributes").rows) {
    assert.deepEqual(carImageAttributes(row.urls, row.options), row.attributes, row.name);
    assert.equal(carImageHtml(row.urls, row.options), row.html, row.name);
  }
  assert.throws(() => carImageAttributes([]), { name: "TypeError" });
});
