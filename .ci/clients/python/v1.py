"""The Python SDK 1: v1.py default -- SERVER... | URL"""

import sys
from contextlib import asynccontextmanager

import anyio
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

from script import COUNTER, Heard, answer, main, steps

mode, _, command, *arguments = sys.argv[1:]


async def run():
    # It offers the newest revision it knows, and has no setting for another one.
    if mode != "default":
        raise ValueError(f"no mode {mode}")
    heard = Heard()
    token = None
    reported = anyio.Event()

    async def elicit(_context, params):
        return types.ElicitResult(action="accept", content=answer(params.message))

    async def hear(message):
        nonlocal token
        if not isinstance(message, types.ServerNotification):
            return
        heard.changed(message.root)
        if isinstance(message.root, types.ProgressNotification):
            token = message.root.params.progressToken
            reported.set()

    async def report(_done, _total, _message):
        pass

    async def cancel(name, parameters):
        """It does not tell the server when a call is given up, so that is done here; a call's id is its token."""
        nonlocal reported
        reported = anyio.Event()
        result = None

        async def call():
            nonlocal result
            result = await session.call_tool(name, parameters, progress_callback=report)

        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await reported.wait()
            params = types.CancelledNotificationParams(requestId=token, reason="enough")
            await session.send_notification(
                types.ClientNotification(types.CancelledNotification(params=params))
            )
            group.cancel_scope.cancel()
        return result

    @asynccontextmanager
    async def subscribed():
        await session.subscribe_resource(COUNTER)
        yield
        await session.unsubscribe_resource(COUNTER)

    if command.startswith("http"):
        server = streamablehttp_client(command)
    else:
        server = stdio_client(StdioServerParameters(command=command, args=arguments))
    callbacks = {"elicitation_callback": elicit, "logging_callback": heard.log, "message_handler": hear}
    async with (
        server as (read, write, *_),
        ClientSession(read, write, **callbacks) as session,
    ):
        hello = await session.initialize()
        await steps(session, hello.protocolVersion, hello.serverInfo, heard, cancel, subscribed)


main(run)
