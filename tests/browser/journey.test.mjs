// A user journey from the home page to a revoked key, with scripts and without them; and how fast
// and stable pages load.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startBrowser, startService } from "./support.mjs";

const GOLF = "make=volkswagen&model=golf&year=2018";
let service, browser;

before(async () => {
  service = await startService();
  browser = await startBrowser();
});

after(async () => {
  await browser?.close();
  await service?.stop();
});

const post = (path, body, key) =>
  fetch(`${service.address}${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(key && { Authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
  });

for (const javaScriptEnabled of [true, false]) {
  test(`from the home page to a revoked key, ${javaScriptEnabled ? "with" : "without"} scripts`, async () => {
    const context = await browser.newContext({ javaScriptEnabled });
    const page = await context.newPage();
    await page.goto(service.address);
    await page.click("text=free credits");
    await page.fill("#email", `ada-${javaScriptEnabled}@example.com`);
    await page.fill("#password", "a long way to Tipperary");
    await page.click("main button.button");
    await page.waitForURL("**/dashboard");
    assert.match(await page.textContent(".figures"), /Credits\s*100/);

    // A key, and its use.
    await page.click("text=Create a key");
    await page.fill("#name", "shop backend");
    await page.click("text=Create key");
    const key = await page.textContent("#secret");
    const picture = await fetch(`${service.address}/api/v1/images/car?${GOLF}`, { headers: { Authorization: `Bearer ${key}` } });
    assert.equal(picture.status, 200);
    await page.goto(`${service.address}/dashboard`);
    assert.match(await page.textContent(".figures"), /Credits\s*99/);
    assert.match(await page.textContent(".rows"), new RegExp(picture.headers.get("x-request-id")));
    const thumbnail = page.locator(".rows img").first();
    await thumbnail.scrollIntoViewIfNeeded();
    const shown = await page.request.get(service.address + (await thumbnail.getAttribute("src")));
    assert.equal(shown.status(), 200, "the delivery is shown with its picture");

    // Credits are bought.
    await page.click("text=Billing");
    await page.click("button[value='5000']");
    await page.click("text=Pay $5");
    await page.click("text=Back to billing");
    assert.match(await page.textContent("main"), /5,099 credits/);

    // A device is approved.
    const started = await (await post("/api/auth/device/code", { client_name: "Ada's laptop" })).json();
    await page.goto(started.verification_uri);
    await page.fill("#user_code", started.user_code.toLowerCase());
    await page.click("text=Continue");
    assert.match(await page.textContent("main"), /Ada's laptop/);
    await page.click("button:has-text('Approve')");
    assert.match(await page.textContent("h1"), /Approved/);
    const device = await (await post("/api/auth/device/token", { device_code: started.device_code })).json();
    const made = await (await post("/api/v1/image-urls", { make: "volkswagen", model: "golf", year: 2018 }, device.access_token)).json();
    const url = made.data[0].url;
    assert.equal((await fetch(url)).status, 200);

    // Its key is revoked, so the URL that it made is dead.
    await page.goto(`${service.address}/dashboard/keys`);
    await page.locator("li", { hasText: "Ada's laptop" }).getByText("Rotate or revoke").click();
    assert.match(await page.textContent("main"), /1 signed URL that/);
    await page.click("button:has-text('Revoke')");
    await page.waitForURL("**/dashboard/keys");
    assert.equal((await fetch(url)).status, 403);
    const refused = await fetch(`${service.address}/api/v1/account`, { headers: { Authorization: `Bearer ${device.access_token}` } });
    assert.equal(refused.status, 401);
    await page.click("text=Sign out");
    await page.waitForURL(`${service.address}/`);
    await page.goto(`${service.address}/dashboard`);
    await page.waitForURL("**/sign-in?**");
    await context.close();
  });
}

test("the playground shows a choice at once, and its address can be shared", async () => {
  const page = await browser.newPage();
  await page.goto(`${service.address}/playground?${GOLF}&color=red&size=small`);
  const width = () => page.evaluate("document.getElementById('picture').complete ? document.getElementById('picture').naturalWidth : 0");
  for (let tries = 0; (await width()) === 0 && tries < 600; tries++) await page.waitForTimeout(100);
  await page.check("input[value='blue']", { force: true });
  await page.waitForURL(/color=blue/);
  await page.waitForSelector("#stage:not(.busy)", { timeout: 60_000 });
  assert.match(await page.getAttribute("#picture", "src"), /color=blue/);
  assert.match(await page.textContent("#curl"), /color=blue/);
  assert.equal(await width(), 512);
  await page.reload();
  assert.ok(await page.isChecked("input[value='blue']"));
  // A vehicle that does not exist leads to ones that do.
  await page.fill("#model", "gol");
  await page.click("text=Show image");
  await page.waitForSelector(".near a");
  await page.click(".near a >> nth=0");
  await page.waitForSelector("#picture");
  await page.close();
});

for (const javaScriptEnabled of [true, false]) {
  test(`the playground frames a picture in any colour, ${javaScriptEnabled ? "with" : "without"} scripts`, async () => {
    const context = await browser.newContext({ javaScriptEnabled });
    const page = await context.newPage();
    await page.goto(`${service.address}/playground?${GOLF}&color=red&size=small`);
    await page.check("input[name='color'][value='other']", { force: true });
    await page.fill("#hex", "#AB0C0D");
    await page.selectOption("#finish", "pearl");
    await page.click("text=Framing and background");
    await page.fill("#w", "700");
    await page.fill("#h", "300");
    await page.check("input[value='contain']", { force: true });
    await page.click("text=Show image");
    await page.waitForURL(/color=ab0c0d&w=700&h=300&format=png&fit=contain&finish=pearl$/);
    await page.waitForSelector("#picture[width='700'][height='300']");
    assert.match(await page.getAttribute("#picture", "src"), /color=ab0c0d&w=700&h=300/);
    assert.match(await page.textContent("#told"), /#ab0c0d pearl, 700 × 300 px/);
    for (const snippet of ["curl", "html", "javascript", "python"]) {
      assert.match(await page.textContent(`#${snippet}`), /fit=contain&finish=pearl/, snippet);
    }
    await page.reload();
    assert.equal(await page.inputValue("#hex"), "#ab0c0d");
    assert.ok(await page.isVisible("#h"), "what is chosen is not folded away");
    // With a preset nothing is left of the other colour. A combination that is not possible is
    // reported, or cannot be sent.
    await page.check("input[value='blue']", { force: true });
    await page.click("text=Show image");
    await page.waitForURL(/color=blue&w=700&h=300&format=png&fit=contain$/);
    assert.ok(!(await page.isVisible("#finish")));
    await page.fill("#h", "");
    await page.click("text=Show image");
    if (javaScriptEnabled) assert.equal(await page.evaluate("document.getElementById('h').validity.valueMissing"), true);
    else assert.match(await page.textContent("#wrong"), /need a width and a height/);
    await context.close();
  });
}

for (const path of ["/", "/playground"]) {
  test(`${path} comes fast, stays where it is, and is light`, async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    // The images of the page exist, so that their render time does not count as the page's.
    await page.goto(service.address + path, { waitUntil: "networkidle" });
    let bytes = 0;
    const session = await context.newCDPSession(page);
    await session.send("Network.enable");
    await session.send("Network.setCacheDisabled", { cacheDisabled: true });
    const kinds = new Map();
    session.on("Network.responseReceived", ({ requestId, type }) => kinds.set(requestId, type));
    session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
      if (kinds.get(requestId) !== "Image") bytes += encodedDataLength;
    });
    await page.goto(service.address + path, { waitUntil: "networkidle" });
    const { shift, paint } = await page.evaluate(`new Promise((resolve) => {
      let shift = 0;
      new PerformanceObserver((list) => { for (const entry of list.getEntries()) shift += entry.value; }).observe({ type: "layout-shift", buffered: true });
      setTimeout(() => resolve({ shift, paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime }), 500);
    })`);
    console.log(`${path}: first contentful paint ${Math.round(paint)} ms, layout shift ${shift}, ${bytes} bytes without pictures`);
    assert.ok(bytes > 0 && bytes < 150_000, `${bytes} bytes`);
    assert.ok(shift < 0.01, `layout shift ${shift}`);
    await context.close();
  });
}
