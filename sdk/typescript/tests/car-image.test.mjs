// Tests `<car-image>` in Chromium, with signed URLs of a real service.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { Cyclorama, carImageAttributes, carImageHtml } from "@cyclorama/client";

const CHROMIUM = process.env.CYCLORAMA_TEST_CHROMIUM ?? "/usr/bin/chromium";

/**
 * Returns the page after its scripts have run. When both elements have finished, their results are
 * written into its title.
 */
async function shown(body) {
  const script = readFileSync(new URL("../dist/car-image.js", import.meta.url));
  const page = `<!doctype html><meta charset="utf-8"><body>${body}<script type="module">
    import { defineCarImage } from "/car-image.js";
    const ended = new Promise((done) => {
      let left = document.querySelectorAll("car-image").length;
      for (const name of ["car-image-loaded", "car-image-failed"]) document.addEventListener(name, () => --left || done());
    });
    defineCarImage();
    defineCarImage();
    await ended;
    document.title = JSON.stringify([...document.querySelectorAll("car-image")].map((element) => {
      const image = element.shadowRoot.querySelector("img");
      return { state: element.getAttribute("state"), alt: image.alt, chosen: image.currentSrc, side: image.naturalWidth,
        placeholder: element.style.getPropertyValue("--car-image-placeholder") };
    }));
  </script>`;
  const server = createServer((request, response) => {
    const isScript = request.url === "/car-image.js";
    response.writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html" }).end(isScript ? script : page);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const profile = mkdtempSync(join(tmpdir(), "cyclorama-chromium-"));
  try {
    const address = `http://127.0.0.1:${server.address().port}/`;
    const flags = ["--headless", "--no-sandbox", "--disable-gpu", `--user-data-dir=${profile}`, "--virtual-time-budget=20000"];
    const { stdout } = await promisify(execFile)(CHROMIUM, [...flags, "--dump-dom", address]);
    const title = stdout.match(/<title>(.*?)<\/title>/)?.[1];
    assert.ok(title, stdout);
    return JSON.parse(title.replaceAll("&amp;", "&").replaceAll("&lt;", "<"));
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

test("a picture from signed addresses, and one that does not come", async () => {
  const client = new Cyclorama({ api_key: process.env.CYCLORAMA_TEST_MAIN_KEY });
  const civic = { make: "honda", model: "civic", year: 2018, color: "red" };
  const { data } = await client.createImageUrls({ images: [{ ...civic, width: 256 }, { ...civic, width: 1024 }] });
  const image = carImageHtml(data, { sizes: "200px" }).replace("<img", '<car-image placeholder="#abc"');
  const [small] = data;
  const failed = carImageAttributes([{ ...small, url: `${small.url}x` }], { alt: "gone" });
  const [loaded, gone] = await shown(`${image}</car-image><car-image src="${failed.src}" alt="${failed.alt}" placeholder="/p.png"></car-image>`);
  assert.deepEqual(loaded, {
    state: "loaded",
    alt: "Red 2018 Honda Civic, front three-quarter view",
    chosen: small.url,
    // Its width in CSS pixels is the value of `sizes`.
    side: 200,
    placeholder: "#abc",
  });
  assert.deepEqual({ ...gone, chosen: undefined }, { state: "failed", alt: "gone", chosen: undefined, side: 0, placeholder: 'url("/p.png")' });
});
