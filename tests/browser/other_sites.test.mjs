// Images on a page of another site, in a real browser: a page that is isolated (COEP), a canvas, a
// script that fetches.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { startBrowser, startService } from "./support.mjs";

const CAR = { make: "volkswagen", model: "golf", year: 2018, color: "blue" };
let service, browser, shop, url;

before(async () => {
  service = await startService();
  browser = await startBrowser();
  const { account_id } = service.operator("account", "create", "--email", "shop@example.com", "--credits", "5");
  const { key } = service.operator("key", "create", "--account", account_id);
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const minted = await fetch(`${service.address}/api/v1/image-urls`, { method: "POST", headers, body: JSON.stringify({ images: [{ ...CAR, width: 256 }] }) });
  url = (await minted.json()).data[0].url;
  await (await fetch(url)).arrayBuffer();
  const page = createServer((_, answer) => {
    answer.writeHead(200, { "Content-Type": "text/html", "Cross-Origin-Embedder-Policy": "require-corp", "Cross-Origin-Opener-Policy": "same-origin" });
    answer.end("<!doctype html><title>A shop</title>");
  });
  await new Promise((listening) => page.listen(0, "127.0.0.1", listening));
  // Another host, so another site: `localhost`, not `127.0.0.1`.
  shop = { address: `http://localhost:${page.address().port}`, stop: () => page.close() };
});

after(async () => {
  await browser?.close();
  await service?.stop();
  shop?.stop();
});

test("a picture is shown on an isolated page, drawn on a canvas that can be read, and fetched with its headers", async () => {
  const page = await browser.newPage();
  await page.goto(shop.address);
  assert.equal(await page.evaluate(() => crossOriginIsolated), true);
  // The first of each with a redirect on its way.
  const cached = `${service.address}/images/car.png?${new URLSearchParams({ ...CAR, w: 256, mode: "cached" })}`;
  for (const address of [cached.replace("volkswagen", "Volkswagen"), cached, url]) {
    for (const crossOrigin of [null, "anonymous"]) {
      const side = await page.evaluate(([address, crossOrigin]) => new Promise((shown) => {
        const image = new Image();
        image.crossOrigin = crossOrigin;
        image.onload = () => shown(image.naturalWidth);
        image.onerror = () => shown("refused");
        image.src = address;
      }), [address, crossOrigin]);
      assert.equal(side, 256, `${address} ${crossOrigin}`);
    }
    const drawn = await page.evaluate(async (address) => {
      const image = new Image();
      image.crossOrigin = "anonymous";
      image.src = address;
      await image.decode();
      const canvas = document.createElement("canvas");
      canvas.getContext("2d").drawImage(image, 0, 0);
      return (await new Promise((made) => canvas.toBlob(made))).size;
    }, address);
    assert.ok(drawn > 100);
    const [first, second] = await page.evaluate(async (address) => {
      const first = await fetch(address, { cache: "no-store" });
      const etag = first.headers.get("etag");
      const second = await fetch(address, { cache: "no-store", headers: { "If-None-Match": etag } });
      return [[first.status, first.headers.get("x-image-width"), etag?.length], second.status];
    }, address);
    assert.deepEqual(first, [200, "256", 34], address);
    assert.equal(second, 304, address);
  }
  // The problem document of a refusal can be read, too.
  const refused = await page.evaluate(async (address) => (await (await fetch(address)).json()).code, `${service.address}/api/v1/delivery/nonsense`);
  assert.equal(refused, "delivery_url_invalid");
});
