"""The Python SDK 2: v2.py default|legacy|REVISION -- SERVER..."""

import sys
import warnings

import anyio
from mcp import Client, StdioServerParameters, types
from mcp.shared.exceptions import MCPDeprecationWarning

from script import answer, main, steps

mode, _, command, *arguments = sys.argv[1:]
# It marks `ping` as on its way out, which the old revisions still have.
warnings.simplefilter("ignore", MCPDeprecationWarning)


async def run():
    async def elicit(_context, params):
        return types.ElicitResult(action="accept", content=answer(params.message))

    async def cancel(name, parameters):
        result = None
        with anyio.CancelScope() as scope:

            async def report(_done, _total, _message):
                scope.cancel()

            result = await client.call_tool(name, parameters, progress_callback=report)
        return result

    server = StdioServerParameters(command=command, args=arguments)
    chosen = {} if mode == "default" else {"mode": mode}
    async with Client(server, elicitation_callback=elicit, **chosen) as client:
        await steps(client, client.protocol_version, client.server_info, cancel)


main(run)
