// Every page, light and dark, narrow and wide: no serious finding of axe-core, nothing wider than
// the window, nothing that the browser refused or failed to load. A screenshot of each is stored
// for review.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { LOOKS, complaintsAbout, picture, startBrowser, startService } from "./support.mjs";

const EMAIL = "ada@example.com";
const PASSWORD = "a long way to Tipperary";
let service, browser, device, hasSearch;

before(async () => {
  service = await startService();
  browser = await startBrowser();
  hasSearch = (await fetch(`${service.address}/api/v1/vehicles`)).ok;
  // A person with a key, some deliveries, signed URLs and payments.
  const page = await browser.newPage();
  await page.goto(`${service.address}/sign-up`);
  await page.fill("#email", EMAIL);
  await page.fill("#password", PASSWORD);
  await page.click("main button.button");
  await page.goto(`${service.address}/dashboard/keys`);
  await page.fill("#name", "shop backend");
  await page.click("text=Create key");
  const key = await page.textContent("#secret");
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  for (const color of ["red", "blue", "red", "green"]) {
    const answer = await fetch(`${service.address}/api/v1/images/car?make=volkswagen&model=golf&year=2018&color=${color}`, { headers });
    assert.equal(answer.status, 200, await answer.text());
  }
  const images = ["red", "blue"].map((color) => ({ make: "volkswagen", model: "golf", year: 2018, color }));
  const made = await fetch(`${service.address}/api/v1/image-urls`, { method: "POST", headers, body: JSON.stringify({ images, max_uses: 2 }) });
  await fetch((await made.json()).data[0].url);
  await page.goto(`${service.address}/dashboard/billing`);
  await page.click("button[value='10000']");
  await page.click("text=Pay $10");
  // For the operator's console: a finished batch, and one that waits.
  service.operator("prewarm", "start", "--name", "colours of the Golf", "make=volkswagen", "model=golf", "years=2018", "colors=red,blue");
  const { batch_id } = service.operator("prewarm", "start", "--name", "every Toyota from every side", "make=toyota", "years=2015..2024", "views=all");
  service.operator("prewarm", "pause", batch_id);
  const started = await fetch(`${service.address}/api/auth/device/code`, { method: "POST", body: new URLSearchParams({ client_name: "Ada's laptop" }) });
  device = (await started.json()).user_code;
  await page.close();
});

after(async () => {
  await browser?.close();
  await service?.stop();
});

const GOLF = "make=volkswagen&model=golf&year=2018";
// A custom colour, and a frame with a background; then values that make no image, reported at their
// field.
const CHOSEN = ["color=1f4e8c&finish=matt", "w=800&h=400&format=avif&fit=contain&trim=true&padding=5&background=e6ebf0"];
const WRONG = ["color=blurple", "color=red&finish=matt", "w=800&fit=cover", "padding=5", "background=blurple"];
const [chosen, refused] = [CHOSEN, WRONG].map((queries) => queries.map((query) => `/playground?${GOLF}&${query}`));
const OPEN = ["/", "/playground", "/playground?make=volkswagen&model=gol&year=2018", "/playground/list", "/pricing", "/docs", "/docs/quick-start", "/docs/errors", "/status", "/sign-in", "/sign-up", "/forgot-password", "/device", "/nothing-here"];
// Two that are found, a VIN, a VIN that has a wrong character, and one that the catalog lacks.
const LIST = ["VW Golf 2018", "BMW 3er Touring 2015", "1HGCM82633A004352", "1HGCM82633A004353", "Tardis 1963"].join("\n");
const SIGNED_IN = ["/dashboard", "/dashboard/keys", "/dashboard/deliveries", "/dashboard/urls", "/dashboard/billing", "/dashboard/password"];

async function look(page, path, name, troubles) {
  troubles.length = 0;
  await page.goto(new URL(path, service.address).href, { waitUntil: path.includes("/console") ? "load" : "networkidle" });
  await picture(page, name);
  const failing = ["/nothing-here", ...refused, ...(hasSearch ? [] : ["/playground"])];
  const expected = failing.includes(path) || path.includes("model=gol&");
  return [...(await complaintsAbout(page)), ...(expected ? [] : troubles)].map((complaint) => `${path}: ${complaint}`);
}

for (const { name, ...options } of LOOKS) {
  test(`every page, ${name}`, async () => {
    const context = await browser.newContext({ ...options, reducedMotion: "reduce" });
    const page = await context.newPage();
    const troubles = [];
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && troubles.push(message.text()));
    page.on("pageerror", (error) => troubles.push(String(error)));
    page.on("request", (request) => [service.address, service.adminAddress].some((address) => request.url().startsWith(address)) || request.url().startsWith("data:") || troubles.push(`asked ${request.url()}`));
    const complaints = [];
    const file = (path) => `${name}${path.replace(/\W+/g, "-").replace(/-$/, "") || "-home"}`;
    for (const path of [...OPEN, ...chosen, ...refused]) complaints.push(...(await look(page, path, file(path), troubles)));
    await page.goto(`${service.address}/playground/list`);
    await page.fill("#list", LIST);
    await page.click("text=Find vehicles");
    await page.waitForSelector(".rows");
    await picture(page, `${name}-list-found`);
    complaints.push(...(await complaintsAbout(page)).map((complaint) => `list of vehicles: ${complaint}`));
    await page.goto(`${service.address}/sign-in`);
    await page.fill("#email", EMAIL);
    await page.fill("#password", PASSWORD);
    await page.click("main button.button");
    await page.waitForURL("**/dashboard");
    for (const path of SIGNED_IN) complaints.push(...(await look(page, path, file(path), troubles)));
    const key = await page.goto(`${service.address}/dashboard/keys`).then(() => page.getAttribute("text=Rotate or revoke", "href"));
    complaints.push(...(await look(page, key, `${name}-key`, troubles)));
    complaints.push(...(await look(page, `/device?user_code=${device}`, `${name}-device-question`, troubles)));
    await page.goto(`${service.address}/dashboard/billing`);
    await page.click("button[value='5000']");
    complaints.push(...(await look(page, new URL(page.url()).pathname, `${name}-pay`, troubles)));
    const console = `${service.adminAddress}/console`;
    complaints.push(...(await look(page, `${console}/sign-in`, `${name}-console-sign-in`, troubles)));
    await page.fill("#token", service.operatorToken());
    await page.click("main button.button");
    await page.waitForSelector("#pulse:has-text('live')");
    await page.locator(".gallery-of img").last().scrollIntoViewIfNeeded();
    complaints.push(...(await look(page, console, `${name}-console`, troubles)));
    await context.close();
    assert.deepEqual(complaints, []);
  });
}
