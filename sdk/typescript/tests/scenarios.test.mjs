// Runs `sdk/scenarios.json` with this client against the service at CYCLORAMA_URL.
// `scripts/test_sdks.sh` starts a service and makes the keys.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Cyclorama, CycloramaError, signPartnerUrl } from "@cyclorama/client";
import { saveImage } from "@cyclorama/client/node";

const SDK = new URL("../../", import.meta.url);
const URL_OF_SERVICE = process.env.CYCLORAMA_URL;
const PREFIX = "CYCLORAMA_TEST_";
const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));

const known = Object.fromEntries(
  Object.entries(process.env)
    .filter(([name]) => name.startsWith(PREFIX))
    .map(([name, value]) => [name.slice(PREFIX.length).toLowerCase(), value]),
);
known.run = randomUUID();
const main = new Cyclorama({ url: URL_OF_SERVICE, api_key: known.main_key });

/** A service that fails in the ways that a scenario sets. */
async function startUpstream(answers) {
  const requests = [];
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const answer = answers[Math.min(requests.length, answers.length - 1)];
      requests.push(request.headers);
      if (answer.broken === "before") return request.socket.destroy();
      const body = Buffer.from(answer.text ?? JSON.stringify(answer.body ?? {}));
      const length = body.length + (answer.broken === "amid" ? 1000 : 0);
      response.writeHead(answer.status ?? 200, { ...answer.headers, "content-length": length });
      if (answer.broken === "amid") return response.write(body, () => setTimeout(() => request.socket.destroy(), 20));
      response.end(body);
    });
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const stop = () => (server.closeAllConnections(), server.close());
  return { url: `http://127.0.0.1:${server.address().port}`, requests, stop };
}

/**
 * Replaces `${name}` by the known value. A text that is only such a name gets the type of the
 * value.
 */
function filled(value) {
  if (Array.isArray(value)) return value.map(filled);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, filled(item)]));
  }
  if (typeof value !== "string") return value;
  const whole = value.match(/^\$\{(\w+)\}$/);
  return whole ? known[whole[1]] : value.replace(/\$\{(\w+)\}/g, (_, name) => String(known[name]));
}

const at = (value, path) => path.split(".").filter(Boolean).reduce((found, name) => found[name], value);

async function call(client, name, given, step) {
  if (name === "signPartnerUrl") {
    const expires_at = Math.floor(Date.now() / 1000) + given.expires_in;
    const query = new URL(await signPartnerUrl(URL_OF_SERVICE, given.secret, given.parameters, expires_at)).searchParams;
    return { exp: Number(query.get("exp")), sig: query.get("sig") };
  }
  if (name === "approveDeviceLogin") {
    await promisify(execFile)("python3", [fileURLToPath(new URL("approve_device_login.py", SDK)), URL_OF_SERVICE, given.user_code]);
    return {};
  }
  if (name === "waitForDeviceLogin") return client.waitForDeviceLogin(given.started);
  if (name === "saveCarImage") {
    const folder = mkdtempSync(join(tmpdir(), "cyclorama-sdk-"));
    try {
      const image = await client.getCarImage(given);
      await saveImage(image, join(folder, "car.png"));
      return { ...image, bytes: statSync(join(folder, "car.png")).size };
    } finally {
      assert.deepEqual(readdirSync(folder), step.error ? [] : ["car.png"]);
      rmSync(folder, { recursive: true });
    }
  }
  if (name === "statementLines") {
    const lines = [];
    for await (const line of client.statementLines()) lines.push(line);
    return { lines };
  }
  if (name === "statementCsv") {
    const parts = [];
    for await (const part of client.statementCsv(given)) parts.push(part);
    return { parts, text: parts.join("") };
  }
  const result = await client[name](given);
  return typeof result.bytes === "function" ? { ...result, bytes: (await result.bytes()).length } : result;
}

function check(expected, value, place) {
  if (Array.isArray(expected)) {
    assert.equal(value.length, expected.length, place);
    expected.forEach((item, number) => check(item, value[number], `${place}.${number}`));
  } else if (typeof expected === "object" && expected !== null) {
    if ("$any" in expected) return;
    if ("$at_least" in expected) assert.ok(value >= expected.$at_least, `${place}: ${value}`);
    else if ("$matches" in expected) assert.match(value, new RegExp(expected.$matches), place);
    else if ("$length" in expected) assert.equal(value.length, expected.$length, place);
    else if ("$longer_than" in expected) assert.ok(value.length > expected.$longer_than, `${place}: ${value.length}`);
    else for (const [name, item] of Object.entries(expected)) check(item, value[name], `${place}.${name}`);
  } else {
    assert.equal(value ?? null, expected, place);
  }
}

async function runStep(client, step) {
  if (step.after) await pause(Math.max(0, Number(filled(step.after)) - Date.now() / 1000 + 1));
  const balance = "spends" in step ? (await main.getAccount()).data.credits : 0;
  for (let left = (step.repeat ?? 1) - 1; left >= 0; left--) {
    let result;
    try {
      result = await call(client, step.call, filled(step.arguments ?? {}), step);
    } catch (error) {
      if (!(error instanceof CycloramaError) || !step.error) throw error;
      const { kind, ...members } = step.error;
      assert.equal(error.name, kind, error);
      assert.equal(error.constructor.name, kind);
      for (const [name, item] of Object.entries(members)) check(item, error[name], name);
      break;
    }
    if (step.error) {
      assert.ok(left > 0, `${step.call} succeeded`);
      continue;
    }
    check(filled(step.expect), result, step.call);
    for (const [name, path] of Object.entries(step.save ?? {})) known[name] = at(result, path);
  }
  if ("spends" in step) assert.equal(balance - (await main.getAccount()).data.credits, step.spends, "spends");
}

for (const scenario of JSON.parse(readFileSync(new URL("scenarios.json", SDK), "utf8")).scenarios) {
  test(scenario.name, async () => {
    const upstream = scenario.upstream && (await startUpstream(scenario.upstream));
    const waits = [];
    const client = new Cyclorama({
      url: upstream?.url ?? scenario.url ?? URL_OF_SERVICE,
      api_key: scenario.key ? known[scenario.key] : "",
      retries: { attempts: scenario.attempts ?? 4 },
      sleep: scenario.real_waits ? pause : async (seconds) => void waits.push(seconds),
    });
    try {
      for (const step of scenario.steps) await runStep(client, step);
    } finally {
      upstream?.stop();
    }
    if (scenario.waits) {
      assert.equal(waits.length, scenario.waits.length, String(waits));
      scenario.waits.forEach(([least, most], number) => assert.ok(least <= waits[number] && waits[number] <= most, `${waits[number]}`));
    }
    if (upstream) {
      assert.equal(upstream.requests.length, scenario.requests);
      const keys = new Set(upstream.requests.map((headers) => headers["idempotency-key"]));
      assert.deepEqual(new Set(upstream.requests.map((headers) => headers.authorization)), new Set([`Bearer ${known.main_key}`]));
      if (scenario.same_idempotency_key) assert.ok(keys.size === 1 && [...keys][0].length >= 32);
      if (scenario.idempotency_key) assert.deepEqual(keys, new Set([scenario.idempotency_key]));
    }
  });
}
