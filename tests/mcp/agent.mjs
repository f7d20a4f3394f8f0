// An agent with an official TypeScript client: lists the tools, makes the given calls, and prints
// the results.
// usage: agent.mjs sdk|client|client-2026-07-28 http|stdio CALLS
import { Client as SdkClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as SdkStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as SdkHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [kind, way, calls] = process.argv.slice(2);
const { CYCLORAMA_URL, CYCLORAMA_KEY, CYCLORAMA_PROGRAM } = process.env;
const info = { name: "cyclorama-test", version: "1" };

const [Http, Stdio] = kind === "sdk" ? [SdkHttp, SdkStdio] : [StreamableHTTPClientTransport, StdioClientTransport];
const client =
  kind === "sdk"
    ? new SdkClient(info)
    : new Client(info, kind === "client" ? {} : { versionNegotiation: { mode: { pin: "2026-07-28" } } });
const transport =
  way === "http"
    ? new Http(new URL(`${CYCLORAMA_URL}/api/mcp`), { requestInit: { headers: { Authorization: `Bearer ${CYCLORAMA_KEY}` } } })
    : new Stdio({ command: CYCLORAMA_PROGRAM, args: ["mcp", "--stdio"], env: { CYCLORAMA_URL, CYCLORAMA_KEY } });

await client.connect(transport);
const { tools } = await client.listTools();
const results = [];
for (const [name, args] of JSON.parse(calls)) {
  // Checks the structured content against the tool's schema.
  results.push(await client.callTool({ name, arguments: args }));
}
// The older client does not report the agreed version over standard input and output.
const version = kind === "sdk" ? transport.protocolVersion : client.getNegotiatedProtocolVersion();
console.log(JSON.stringify({ server: client.getServerVersion()?.name, version, tools, results }));
await client.close();
