// Sends the same queries to our search and to the vehicle package's own `searchVehicles`, and lists
// every difference in the first result with its reason.
//
//   npm pack @meterapp/vehicle-db@2.6.0 && tar xzf meterapp-vehicle-db-2.6.0.tgz
//   node tests/agreement/search.mjs package target/debug/cyclorama [--all]
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [folder, program, all] = process.argv.slice(2);
if (!folder || !program) {
    console.error("usage: node search.mjs PACKAGE-FOLDER CYCLORAMA-PROGRAM [--all]");
    process.exit(2);
}
const require = createRequire(import.meta.url);
const { searchVehicles } = require(path.resolve(folder, "dist/search.js"));
const data = require(path.resolve(folder, "dist/data.js")).default;

const makeName = new Map(data.makes.map((make) => [make.make_id, make.make_name]));
const models = [...new Map(data.models.map((row) => [`${row[1]} ${data.modelNames[row[3]]}`, row])).values()];
// Takes rows at a fixed distance, with a step that has no pattern: the same queries every time.
const some = (list, count, offset = 0) => Array.from({ length: count }, (_, at) => list[(at * 7919 + offset) % list.length]);
const letter = (at) => String.fromCharCode(97 + (at * 5) % 26);
const mistyped = (text, at) => {
    const place = 1 + (at * 13) % (text.length - 1);
    return [text.slice(0, place) + letter(at) + text.slice(place), text.slice(0, place) + text.slice(place + 1)][at % 2];
};
const name = (row) => `${makeName.get(row[1])} ${data.modelNames[row[3]]}`;
const golden = readFileSync(new URL("../../catalog/src/resolve/golden.tsv", import.meta.url), "utf8");
const queries = [...new Set([
    ...some(models, 400).map(name),
    ...some(models, 150, 31).map((row) => `${row[0]} ${name(row)}`),
    ...some(models, 100, 57).map((row) => `${data.modelNames[row[3]]} ${makeName.get(row[1])}`),
    ...some(models, 150, 83).map((row, at) => mistyped(name(row), at)),
    ...some(data.makes, 100).map((make) => make.make_name),
    ...golden.split("\n").filter((line) => line && !line.startsWith("#")).map((line) => line.split("\t")[0]),
])].filter((query) => !query.includes("\n"));

const answer = spawnSync(program, ["catalog", "search", "--limit", "10", "--json"], {
    input: queries.join("\n") + "\n", encoding: "utf8", maxBuffer: 1 << 28,
});
if (answer.status !== 0) throw new Error(answer.stderr || String(answer.error));
const ours = answer.stdout.trim().split("\n").map((line) => JSON.parse(line));

const key = (text) => (text ?? "").normalize("NFKD").toLowerCase().replace(/\+/g, "plus").replace(/[^a-z0-9]/g, "");
const same = (hit, theirs) =>
    key(hit.make_name) === key(theirs.makeName) && key(hit.model_name) === key(theirs.kind === "model" ? theirs.modelName : "");

let answered = 0, agreed = 0, ties = 0;
const differences = new Map();
for (const { query, results } of ours) {
    const theirs = searchVehicles(query, { limit: 100 });
    if (theirs.length === 0) continue;
    answered += 1;
    const [mine] = results;
    if (mine && same(mine, theirs[0])) { agreed += 1; continue; }
    // The package orders equal matches alphabetically.
    const equal = mine && theirs.find((hit) => same(mine, hit));
    let reason;
    if (equal && equal.matchKind === theirs[0].matchKind) {
        reason = "both match alike; the better known one is first here, the alphabet decides there";
        ties += 1;
    } else if (mine && mine.match_kind === "exact" && theirs[0].matchKind !== "exact") {
        reason = "ours is an exact match (nickname, joined words), theirs is not";
    } else if (mine && theirs[0].matchKind === "fuzzy") {
        reason = "both are guesses at a mistyped name";
    } else {
        reason = mine ? "other" : "nothing found here";
    }
    const list = differences.get(reason) ?? [];
    list.push(`${query}: here ${mine ? `${mine.make_name} ${mine.model_name ?? ""} (${mine.match_kind})` : "-"}; there ${theirs[0].makeName} ${theirs[0].modelName ?? ""} (${theirs[0].matchKind})`);
    differences.set(reason, list);
}
const share = (part) => `${part} of ${answered} (${((100 * part) / answered).toFixed(1)} %)`;
console.log(`${queries.length} queries, ${answered} with an answer of the package`);
console.log(`same first result: ${share(agreed)}; with those that match alike: ${share(agreed + ties)}`);
for (const [reason, list] of [...differences].sort((a, b) => b[1].length - a[1].length)) {
    console.log(`\n${list.length}: ${reason}`);
    for (const line of all ? list : list.slice(0, 40)) console.log(`  ${line}`);
}
process.exit(agreed + ties >= 0.95 * answered ? 0 : 1);
