"""The Python SDK 2: v2.py default|legacy|REVISION -- SERVER... | URL"""

import sys
import warnings
from contextlib import asynccontextmanager

import anyio
from mcp import Client, StdioServerParameters, types
from mcp.shared.exceptions import MCPDeprecationWarning

from script import COUNTER, Heard, answer, main, steps

mode, _, command, *arguments = sys.argv[1:]
# It marks what the new revision has no more, which the old ones still have.
warnings.simplefilter("ignore", MCPDeprecationWarning)


async def run():
    heard = Heard()

    async def elicit(_context, params):
        return types.ElicitResult(action="accept", content=answer(params.message))

    async def hear(message):
        if client.protocol_version < "2026":
            heard.changed(message)

    async def cancel(name, parameters):
        result = None
        with anyio.CancelScope() as scope:

            async def report(_done, _total, _message):
                scope.cancel()

            result = await client.call_tool(name, parameters, progress_callback=report)
        return result

    @asynccontextmanager
    async def subscribed():
        if client.protocol_version < "2026":
            await client.subscribe_resource(COUNTER)
            yield
            await client.unsubscribe_resource(COUNTER)
            return
        wanted = {"tools_list_changed": True, "resource_subscriptions": [COUNTER]}
        async with client.listen(**wanted) as subscription, anyio.create_task_group() as group:

            async def listen():
                async for event in subscription:
                    heard.changed(event)

            group.start_soon(listen)
            yield
            group.cancel_scope.cancel()

    server = command
    if not command.startswith("http"):
        server = StdioServerParameters(command=command, args=arguments)
    callbacks = {"elicitation_callback": elicit, "logging_callback": heard.log, "message_handler": hear}
    chosen = {} if mode == "default" else {"mode": mode}
    async with Client(server, log_level="info", **callbacks, **chosen) as client:
        await steps(client, client.protocol_version, client.server_info, heard, cancel, subscribed)


main(run)
