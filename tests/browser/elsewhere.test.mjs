// Pages that lead to other services: payments by Stripe, sign-in with a provider, caps and emails.
// Tests user journeys, and every page light and dark, narrow and wide.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startStripe } from "./stripe.mjs";
import { LOOKS, complaintsAbout, picture, startBrowser, startService } from "./support.mjs";

const PASSWORD = "a long way to Tipperary";
let stripe, service, browser, folder, mail, mails;

/** A mail server that accepts everything (the part of RFC 5321 that a client needs). */
async function startMail() {
  mails = [];
  const server = createServer((socket) => {
    let inText = false, text = "", rest = "";
    socket.write("220 mail\r\n");
    socket.on("error", () => {});
    socket.on("data", (data) => {
      const lines = (rest + data).split("\r\n");
      rest = lines.pop();
      for (const line of lines) {
        if (inText && line === ".") { inText = false; mails.push(text); text = ""; socket.write("250 kept\r\n"); }
        else if (inText) text += line.endsWith("=") ? line.slice(0, -1) : `${line}\n`;
        else if (line.startsWith("DATA")) { inText = true; socket.write("354 go on\r\n"); }
        else if (line.startsWith("QUIT")) socket.end("221 bye\r\n");
        else socket.write("250 ok\r\n");
      }
    });
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { url: `smtp://127.0.0.1:${server.address().port}`, stop: () => server.close() };
}

before(async () => {
  stripe = await startStripe();
  mail = await startMail();
  folder = mkdtempSync(join(tmpdir(), "cyclorama-browser-openid-"));
  const provider = (id, name) => `[[provider]]\nid = "${id}"\nname = "${name}"\nissuer = "http://127.0.0.1:9/${id}"\nclient_id = "c"\nclient_secret = "s"\n`;
  writeFileSync(join(folder, "openid.toml"), provider("work", "Example Ltd") + provider("club", "The Automobile Club of Somewhere"));
  service = await startService({
    ...stripe.settings,
    CYCLORAMA_SMTP_URL: mail.url,
    CYCLORAMA_MAIL_FROM: "Cyclorama <no-reply@example.com>",
    CYCLORAMA_OPENID_PROVIDERS: join(folder, "openid.toml"),
    CYCLORAMA_ALERT_SECONDS: "1",
  });
  browser = await startBrowser();
});

after(async () => {
  await browser?.close();
  await service?.stop();
  stripe?.stop();
  mail?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function until(what, seconds = 20) {
  for (let tries = 0; tries < seconds * 10; tries++) {
    const found = await what();
    if (found) return found;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`${what} did not come`);
}

async function signUp(page, email) {
  await page.goto(`${service.address}/sign-up`);
  await page.fill("#email", email);
  await page.fill("#password", PASSWORD);
  await page.click("main form button.button");
  const letter = await until(() => mails.find((text) => text.includes(`To: ${email}`) && text.includes("/confirm/")));
  const link = letter.replaceAll("=3D", "=").match(/http:\S+\/confirm\/\S+/)[0];
  await page.goto(link);
  await page.fill("#password", PASSWORD);
  await page.click("main form button.button");
  await page.waitForURL("**/dashboard");
}

for (const { name, ...options } of LOOKS) {
  test(`leaving, paying, reloading, receipts, caps and letters, ${name}`, async () => {
    const context = await browser.newContext({ ...options, reducedMotion: "reduce" });
    const page = await context.newPage();
    const troubles = [];
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && troubles.push(message.text()));
    page.on("pageerror", (error) => troubles.push(String(error)));
    const complaints = [];
    const look = async (of) => {
      await picture(page, `${name}-${of}`);
      complaints.push(...(await complaintsAbout(page)).map((complaint) => `${of}: ${complaint}`));
    };
    for (const path of ["sign-in", "sign-up"]) {
      await page.goto(`${service.address}/${path}`);
      await look(`providers-${path}`);
    }
    await signUp(page, `${name}@example.com`);
    await page.goto(`${service.address}/dashboard/password`);
    await look("providers-password");

    // A key with a cap, used up to its end.
    await page.goto(`${service.address}/dashboard/keys`);
    await page.fill("#name", "shop backend");
    await page.fill("#monthly_cap", "2");
    await page.click("text=Create key");
    const headers = { Authorization: `Bearer ${await page.textContent("#secret")}` };
    const statuses = [];
    for (let pictures = 0; pictures < 3; pictures++) {
      const answer = await fetch(`${service.address}/api/v1/images/car?make=volkswagen&model=golf&year=2018&color=red`, { headers });
      statuses.push(answer.status);
      await answer.arrayBuffer();
    }
    assert.deepEqual(statuses, [200, 200, 402]);
    await page.goto(`${service.address}/dashboard/keys`);
    await page.waitForSelector("text=2 of 2 credits spent this month");
    await look("keys-capped");
    await page.click("text=Cap, rotate or revoke");
    await page.waitForSelector("#monthly_cap");
    await look("key-capped");
    await page.fill("#monthly_cap", "500");
    await page.click("text=Save cap");
    await page.waitForSelector("text=2 of 500 credits spent this month");

    // Before anything was bought.
    await page.goto(`${service.address}/dashboard/billing`);
    assert.equal(await page.locator("text=Cards and receipts").count(), 0);
    await look("billing-before");
    await page.fill("#low_balance", "50");
    await page.fill("#daily_spend", "5000");
    await page.click("form[action$=alerts] button");
    await page.waitForURL("**/dashboard/billing");
    assert.equal(await page.inputValue("#low_balance"), "50");

    // The page that leads to Stripe, without the header that redirects by itself, to check the
    // page; then on to Stripe.
    await page.route("**/dashboard/billing", async (route) => {
      const answer = await route.fetch({ maxRedirects: 0 });
      const { refresh, ...headers } = answer.headers();
      assert.ok(refresh?.startsWith("0; url="));
      await route.fulfill({ response: answer, headers });
    });
    await page.click("button[value='10000']");
    await page.waitForSelector("main a.button");
    await look("leaving");
    await page.unroute("**/dashboard/billing");
    await page.click("main a.button");
    await page.waitForURL(`${stripe.address}/checkout`);
    const session = stripe.sessions.at(-1);
    // Back before Stripe has reported the payment, and after.
    await page.goto(session.success_url);
    await page.waitForSelector("text=Not paid yet");
    await look("pay-waiting");
    const paid = await stripe.pay(service, session);
    await page.goto(session.success_url);
    await page.waitForSelector("text=10,000 credits were added to your account");
    await look("pay-receipt");

    await page.goto(`${service.address}/dashboard/billing`);
    await page.fill("[name=threshold]", "700");
    await page.selectOption("[name=pack]", "5000");
    await page.click("text=Turn on");
    await page.waitForSelector("text=your card is charged when your balance falls below");
    await stripe.refund(service, paid, 250);
    await page.reload();
    await page.waitForSelector("text=refunded in part");
    await look("billing-reloading");
    await page.click("text=Cards and receipts");
    await page.waitForURL(`${stripe.address}/portal`);
    await page.goto(`${service.address}/dashboard/billing`);
    await page.click("text=Turn off");
    await page.waitForSelector("text=Off. If you turn it on");

    // A provider that is down.
    await page.goto(`${service.address}/dashboard`);
    await page.context().clearCookies();
    await page.goto(`${service.address}/sign-in`);
    troubles.length = 0;
    await page.click("text=Continue with Example Ltd");
    await page.waitForSelector("text=Example Ltd does not respond");
    await look("provider-down");
    troubles.length = 0;
    await context.close();
    assert.deepEqual([...complaints, ...troubles], []);
  });
}

test("the console: a flagged render beside the one made anew, and payments to look at", async () => {
  const car = { make: "volkswagen", model: "golf", year: 2018, color: "blue" };
  let headers;
  for (const name of ["one", "two", "three"]) {
    const { account_id } = service.operator("account", "create", "--email", `${name}@example.com`, "--credits", "5");
    const { key } = service.operator("key", "create", "--account", account_id);
    headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    const picture = await fetch(`${service.address}/api/v1/images/car?${new URLSearchParams(car)}`, { headers });
    assert.equal(picture.status, 200, await picture.text());
    const report = { ...car, verdict: "bad", reason: `The rear wheel looks too small to ${name}.` };
    const said = await fetch(`${service.address}/api/v1/feedback`, { method: "POST", headers, body: JSON.stringify(report) });
    assert.equal(said.status, 201, await said.text());
  }
  await stripe.stray(service);
  const served = async () => (await fetch(`${service.address}/api/v1/images/car?${new URLSearchParams(car)}`, { headers })).headers.get("etag");
  const before = await served();
  const complaints = [];
  const open = async ({ name, ...options }) => {
    const context = await browser.newContext({ ...options, reducedMotion: "reduce" });
    const page = await context.newPage();
    await page.goto(`${service.adminAddress}/console/sign-in`);
    await page.fill("#token", service.operatorToken());
    await page.click("main button.button");
    await page.waitForSelector("#pulse:has-text('live')");
    return [context, page];
  };
  const [context, page] = await open(LOOKS[0]);
  await page.click("button:has-text('Rerender') >> nth=0");
  await until(() => service.operator("render", "flagged").flagged[0].candidate_revision, 120);
  await context.close();
  for (const look of LOOKS) {
    const [context, page] = await open(look);
    await page.waitForSelector("text=candidate: revision 2");
    for (const image of await page.locator(".reviews img").all()) {
      await image.scrollIntoViewIfNeeded();
      await until(() => image.evaluate((image) => image.complete && image.naturalWidth > 0));
    }
    await picture(page, `${look.name}-console-candidate`);
    complaints.push(...(await complaintsAbout(page)).map((complaint) => `${look.name}: ${complaint}`));
    await context.close();
  }
  assert.equal(await served(), before, "nobody is served the candidate");
  const [last, console] = await open(LOOKS[2]);
  await console.click("text=Accept candidate");
  await console.waitForSelector("text=No image is in review");
  assert.notEqual(await served(), before);
  await last.close();
  assert.deepEqual(complaints, []);
});
