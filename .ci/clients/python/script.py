"""The script that both generations of the Python SDK run; what differs between them is handed in.

One JSON line on standard output for each step, with what the SDK made of the server's answer. What the answers
should be is the test's business.
"""

import json

import anyio
from mcp import types

COUNTER = "demo://counter"


def say(step, result, **more):
    if hasattr(result, "model_dump"):
        result = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    print(json.dumps({"step": step, "result": result, **more}), flush=True)


class Heard:
    """What the server told without being asked each time: log messages, and what has changed."""

    def __init__(self):
        self.all = set()

    async def log(self, params):
        self.all.add(params.data)

    def changed(self, note):
        """A notification, or what the SDK made of it."""
        if hasattr(note, "uri"):
            self.all.add(note.uri)
        elif isinstance(note, types.ResourceUpdatedNotification):
            self.all.add(str(note.params.uri))
        elif type(note).__name__.startswith("Tool"):
            self.all.add("tools")

    async def until(self, *expected):
        while not self.all.issuperset(expected):
            await anyio.sleep(0.005)


async def steps(client, revision, server, heard, cancel, subscribed):
    """All steps but the last.

    `cancel` calls a tool, and takes the call back at its first report; `subscribed` makes `heard` hear of changes,
    while it is entered.
    """
    known = server and server.model_dump(mode="json", exclude_none=True)
    say("connect", {"revision": revision, "server": known})
    say("tools", await client.list_tools())
    say("echo", await client.call_tool("echo", {"text": "gr\u00fc\u00dfe \U0001f600 \u2028"}))
    say("add", await client.call_tool("add", {"a": 2, "b": 40}))

    progress = []

    async def report(done, total, message):
        progress.append({"progress": done, "total": total, "message": message})

    slow = await client.call_tool("slow", {"seconds": 0.4, "steps": 4}, progress_callback=report)
    say("slow", slow, progress=progress)

    say("denied", await client.call_tool("image", {}))
    say("failed", await client.call_tool("fail", {"message": "on purpose"}))
    if revision >= "2025-06-18":
        say("ask", await client.call_tool("ask", {"question": "Who is there?"}))

    outcome = await cancel("slow", {"seconds": 60, "steps": 600})
    say("cancel", {"outcome": "no result" if outcome is None else "a result"})
    say("after", await client.call_tool("echo", {"text": "still here"}))
    # Long enough for a few more reports of the call that should be over.
    await client.call_tool("slow", {"seconds": 0.3, "steps": 1})
    if revision < "2026":
        say("ping", await client.send_ping())

    say("resource", await client.read_resource("demo://readme"))
    say("template", await client.read_resource("demo://greeting/Ada"))
    say("prompt", await client.get_prompt("greet", {"name": "Ada", "tone": "formal"}))
    prompt = types.PromptReference(type="ref/prompt", name="greet")
    say("complete", await client.complete(prompt, {"name": "name", "value": "a"}))

    if revision < "2026":
        await client.set_logging_level("info")
    say("log", await client.call_tool("log", {"level": "warning", "message": "look here"}))
    await heard.until("look here")

    async with subscribed():
        await client.call_tool("toggle", {})
        await client.call_tool("count", {})
        await heard.until("tools", COUNTER)
        say("changed", await client.list_tools())
    # Changes that it should hear nothing of; the last call is long enough for what comes late.
    await client.call_tool("count", {})
    if revision >= "2026":
        await client.call_tool("toggle", {})
    await client.call_tool("slow", {"seconds": 0.1, "steps": 1})


def answer(message):
    """What a user would have typed."""
    return {"name": f'whoever hears "{message}"'}


def main(run):
    """Calls `run`, and ends the program with 1 if a step fails or hangs."""

    async def limited():
        with anyio.fail_after(60):
            await run()
        say("end", {})

    anyio.run(limited)
