// Shared parts of the browser tests: a separate service, a browser, an accessibility check of every
// page, and screenshots.

import { spawn, execFileSync } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(process.env.CARGO_TARGET_DIR ?? join(here, "../../target"), "debug");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Folder of the screenshots. */
export const pictures = process.env.CYCLORAMA_TEST_PICTURES ?? join(here, "pictures");

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** A running service with the real render node, on a separate folder. */
export async function startService(settings = {}) {
  const folder = mkdtempSync(join(tmpdir(), "cyclorama-browser-"));
  const address = `http://127.0.0.1:${await freePort()}`;
  const adminAddress = `http://127.0.0.1:${await freePort()}`;
  const environment = {
    ...process.env,
    CYCLORAMA_DATA_DIR: folder,
    CYCLORAMA_LISTEN: address.slice(7),
    CYCLORAMA_ADMIN_LISTEN: adminAddress.slice(7),
    CYCLORAMA_MODELS: join(here, "../../models"),
    CYCLORAMA_SIGN_UP_PER_MINUTE: "1000",
    CYCLORAMA_SIGN_IN_PER_MINUTE: "1000",
    CYCLORAMA_PLAYGROUND_PER_MINUTE: "1000",
    CYCLORAMA_FREE_RENDERS_PER_MINUTE: "1000",
    ...settings,
  };
  const program = join(target, "cyclorama");
  if (!existsSync(program)) throw new Error(`${program} is missing: run \`cargo build --workspace\` first`);
  let log = "";
  const child = spawn(program, ["serve"], { env: environment, stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => { log += text; });
  for (let tries = 0; ; tries++) {
    if (child.exitCode !== null || tries > 600) throw new Error(`the service did not start:\n${log}`);
    if (await fetch(`${address}/readyz`).then((answer) => answer.ok, () => false)) break;
    await new Promise((done) => setTimeout(done, 100));
  }
  return {
    address,
    adminAddress,
    /** The token for the operator address. */
    operatorToken: () => JSON.parse(readFileSync(join(folder, "operator.json"), "utf8")).token,
    /** Runs an operator command, and returns its JSON answer. */
    operator: (...command) => JSON.parse(execFileSync(program, [...command, "--json"], { env: environment, encoding: "utf8" })),
    log: () => log,
    async stop() {
      child.kill("SIGTERM");
      await new Promise((done) => (child.exitCode === null ? child.once("exit", done) : done()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function startBrowser() {
  const executablePath = process.env.CYCLORAMA_TEST_CHROMIUM ?? "/usr/bin/chromium";
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}

/** Light and dark, narrow and wide. */
export const LOOKS = [
  { name: "light-1440", colorScheme: "light", viewport: { width: 1440, height: 900 } },
  { name: "dark-1440", colorScheme: "dark", viewport: { width: 1440, height: 900 } },
  { name: "light-360", colorScheme: "light", viewport: { width: 360, height: 740 } },
  { name: "dark-360", colorScheme: "dark", viewport: { width: 360, height: 740 } },
];

/**
 * Returns the problems of a page: accessibility (serious and worse), sideways scrolling, and
 * anything that the browser refused.
 */
export async function complaintsAbout(page) {
  // Our pages allow no scripts by others, so the checker runs in an isolated world.
  const found = await page.evaluate(`${axe}; axe.run({ resultTypes: ["violations"] })`);
  const complaints = found.violations
    .filter((violation) => ["serious", "critical"].includes(violation.impact))
    .map((violation) => `${violation.id}: ${violation.help}: ${violation.nodes.map((node) => `${node.target} ${node.any.map((check) => check.message)}`).join("; ")}`);
  const wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  if (wide > 0) complaints.push(`the page is ${wide} px wider than the window`);
  return complaints;
}

/** Takes a screenshot of the whole page. */
export async function picture(page, name) {
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}
