// Compares operations and types of this client with the service's API document.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { Cyclorama } from "@cyclorama/client";

// Operations for render nodes, which this client does not have.
const LEFT_OUT = ["/node/"];
const OWN = ["constructor", "getCarImageUrl", "statementLines", "statementCsv", "waitForDeviceLogin"];
// Schemas of errors and of unions of requests, which have another form here.
const NO_INTERFACE = ["VehicleList", "ImageUrlsRequest", "DeviceError", "DeviceErrorCode"];
const RENAMED = { ReportedEvent: ["EventsRequest", "events"], CheckRow: ["CheckRequest", "vehicles"] };

const document = await (await fetch(`${process.env.CYCLORAMA_URL}/openapi.json`)).json();
const schemas = document.components.schemas;
const operations = Object.entries(document.paths)
  .filter(([path]) => !LEFT_OUT.some((start) => path.startsWith(start)))
  .flatMap(([, methods]) => Object.values(methods));

const file = fileURLToPath(new URL("../src/types.ts", import.meta.url));
const program = ts.createProgram([file], { strict: true, target: ts.ScriptTarget.ES2022 });
const checker = program.getTypeChecker();
const interfaces = program.getSourceFile(file).statements.filter(ts.isInterfaceDeclaration);

const alternatives = (schema) => (schema.oneOf ?? schema.anyOf ?? [schema]).filter((item) => item.type !== "null");
const object = (schema) => (schema.$ref ? object(schemas[schema.$ref.split("/").at(-1)]) : schema.allOf ? object(schema.allOf[0]) : schema);
const itemOf = ([name, list]) => schemas[name].properties[list].items;
const schemaOf = (name) => (RENAMED[name] ? itemOf(RENAMED[name]) : object(schemas[name] ?? {}));

/** Returns the names of the schemas of which the JSON of these operations consists. */
function used() {
  const found = new Set();
  const visit = (value) => {
    if (typeof value !== "object" || value === null) return;
    const name = value.$ref?.split("/").at(-1);
    if (name && !found.has(name)) {
      found.add(name);
      visit(schemas[name]);
    }
    Object.values(value).forEach(visit);
  };
  operations.forEach(visit);
  return [...found].filter((name) => !NO_INTERFACE.includes(name));
}

/** Returns the string literals of a type that is a union of them. */
function literals(type) {
  const parts = (type.isUnion() ? type.types : [type]).filter((part) => !(part.flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined)));
  return parts.every((part) => part.isStringLiteral()) ? parts.map((part) => part.value) : undefined;
}

function fits(type, schema, place) {
  const bare = checker.getNonNullableType(type);
  const several = alternatives(schema);
  if (several.length > 1) {
    // Another type, such as a number or a single string.
    const parts = bare.types.map((part) => (part.isStringLiteral() ? part.value : checker.typeToString(part)));
    const expected = several.flatMap((item) => item.enum ?? [{ integer: "number", string: "string" }[item.type]]);
    return assert.deepEqual(new Set(parts), new Set(expected), place);
  }
  const given = several[0];
  if (given.$ref && given.$ref.split("/").at(-1) !== "VehicleList") {
    assert.equal(bare.symbol?.name, given.$ref.split("/").at(-1), place);
    return;
  }
  const allowed = literals(bare);
  const kind = [given.type].flat().find((item) => item !== "null");
  if (allowed) return assert.deepEqual(new Set(allowed), new Set(given.enum ?? [given.const]), place);
  if (kind === "array" && checker.isArrayType(bare)) return fits(checker.getTypeArguments(bare)[0], given.items, `${place}[]`);
  // A union of literals and any other string: the literals exist for editors to suggest.
  const isOpen = bare.isUnion() && bare.types.some((part) => part.isIntersection());
  if (kind === "string" && isOpen) return assert.equal(given.enum, undefined, place);
  const written = { string: "string", integer: "number", number: "number", boolean: "boolean" }[kind];
  if (written) assert.equal(checker.typeToString(bare), written, place);
}

test("every operation is a method", () => {
  const methods = Object.getOwnPropertyNames(Cyclorama.prototype).filter((name) => !OWN.includes(name));
  assert.deepEqual(methods.sort(), operations.map((operation) => operation.operationId).sort());
});

test("every schema is an interface, and the reverse", () => {
  const names = interfaces.map((declared) => declared.name.text).filter((name) => !RENAMED[name]);
  assert.deepEqual(names.sort(), used().sort());
});

test("interfaces have the members", () => {
  for (const declared of interfaces) {
    const name = declared.name.text;
    const { properties = {}, required = [] } = schemaOf(name);
    const members = checker.getTypeAtLocation(declared).getProperties();
    assert.deepEqual(members.map((member) => member.name).sort(), Object.keys(properties).sort(), name);
    const always = members.filter((member) => !(member.flags & ts.SymbolFlags.Optional)).map((member) => member.name);
    assert.deepEqual(always.sort(), [...required].sort(), name);
    for (const member of members) {
      if (name !== "VehiclesResponse") {
        fits(checker.getTypeOfSymbolAtLocation(member, declared), properties[member.name], `${name}.${member.name}`);
      }
    }
  }
});
