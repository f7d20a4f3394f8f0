"""An agent with the official Python client: lists the tools, makes the given calls, and prints the
results.

usage: agent.py legacy|auto http|stdio CALLS
"""

import asyncio
import json
import os
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


async def main() -> None:
    mode, way, calls = sys.argv[1:]
    url, key, program = (os.environ[name] for name in ("CYCLORAMA_URL", "CYCLORAMA_KEY", "CYCLORAMA_PROGRAM"))
    if way == "http":
        http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60)
        server = streamable_http_client(f"{url}/api/mcp", http_client=http)
    else:
        server = StdioServerParameters(command=program, args=["mcp", "--stdio"], env={"CYCLORAMA_URL": url, "CYCLORAMA_KEY": key})
    async with Client(server, mode=mode) as client:
        listed = await client.list_tools()
        # Checks the structured content against the tool's schema.
        results = [await client.call_tool(name, arguments) for name, arguments in json.loads(calls)]
        name = client.server_info.name if client.server_info else None
        version = client.protocol_version

    def plain(model):
        return model.model_dump(mode="json", by_alias=True, exclude_none=True)

    tools, results = [plain(tool) for tool in listed.tools], [plain(result) for result in results]
    print(json.dumps({"server": name, "version": version, "tools": tools, "results": results}))


asyncio.run(main())
