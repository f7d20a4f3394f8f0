// Runs the quick start of the README as a reader would.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));

test("the quick start runs", () => {
  const snippets = [...readFileSync(join(PACKAGE, "README.md"), "utf8").matchAll(/```js\n(.*?)```/gs)];
  assert.equal(snippets.length, 1);
  const folder = mkdtempSync(join(tmpdir(), "cyclorama-sdk-readme-"));
  try {
    // Links the package as if it were installed.
    mkdirSync(join(folder, "node_modules/@cyclorama"), { recursive: true });
    symlinkSync(PACKAGE, join(folder, "node_modules/@cyclorama/client"));
    writeFileSync(join(folder, "quick-start.mjs"), snippets[0][1]);
    const env = { ...process.env, CYCLORAMA_KEY: process.env.CYCLORAMA_TEST_MAIN_KEY };
    const said = execFileSync(process.execPath, ["quick-start.mjs"], { cwd: folder, env, encoding: "utf8" });
    assert.match(said, /^1024 px, 1 credit, \d+ left\n$/);
    assert.equal(readFileSync(join(folder, "civic.png")).subarray(1, 4).toString(), "PNG");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
