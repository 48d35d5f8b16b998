"""Runs the tests against each mutant that instrument.py has written in, and tells the score by module.

    judge.py run MUTANTS STATE RESULTS TREE LIB [--shard K/N] [MODULE...]    the unit tests of the mutant's own folder
    judge.py further MUTANTS STATE RESULTS TREE BINARY [--shard K/N] [MODULE...]
                                                                             all tests of a program, for those that survived
    judge.py score MUTANTS STATE RESULTS [MODULE...]

RESULTS has a line for each run, so that what was stopped goes on where it was. LIB and BINARY are what `cargo test --no-run`
has built.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

MEMORY = 4 << 30


def module_of(file):
    return file.split("/src/", 1)[1].removesuffix(".rs")


def belongs(module, wanted):
    return not wanted or any(module == one or module.startswith(one + "/") for one in wanted)


def tests(binary, tree, number, arguments, limit, cases):
    """`survived`, `caught` or `timeout`."""
    environment = dict(os.environ, SANSWIRE_MUTANT=str(number), RUST_BACKTRACE="0")
    if cases:
        environment["PROPTEST_CASES"] = str(cases)
    # Nobody reads what a failure came down to.
    environment.update(PROPTEST_MAX_SHRINK_ITERS="0", PROPTEST_DISABLE_FAILURE_PERSISTENCE="true")

    def bounds():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    with subprocess.Popen(
        [binary, "--test-threads", "2", "-q", *arguments],
        cwd=tree,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        preexec_fn=bounds,
    ) as child:
        try:
            return "survived" if child.wait(limit) == 0 else "caught"
        except subprocess.TimeoutExpired:
            child.kill()
            return "timeout"


def read(file):
    known = {}
    if Path(file).exists():
        for line in Path(file).read_text().splitlines():
            entry = json.loads(line)
            known[entry["mutant"]] = entry
    return known


def note(file, number, mutant, outcome, by):
    with Path(file).open("a", encoding="utf-8") as out:
        out.write(json.dumps({"mutant": number, "outcome": outcome, "by": by, "name": mutant["name"]}) + "\n")
    if outcome == "survived":
        print(f"survived {by}: {mutant['name']}", flush=True)


def run(mutants, state, results, tree, binary, shard, modules):
    """The tests in the mutant's own folder, with a few cases each."""
    known = read(results)
    limits = {}
    for number, mutant in enumerate(mutants, 1):
        module = module_of(mutant["file"])
        if state.get(str(number)) != "in" or number in known or not belongs(module, modules) or number % shard[1] != shard[0]:
            continue
        folder = "::".join(module.split("/")[:-1]) + "::"
        if folder not in limits:
            # On a busy machine the same tests take many times as long, which must not look like a loop.
            started = time.monotonic()
            if tests(binary, tree, 0, [folder], 900, 32) != "survived":
                sys.exit(f"the tests of {folder} fail without a mutant")
            limits[folder] = max(20, 10 * (time.monotonic() - started))
        note(results, number, mutant, tests(binary, tree, number, [folder], limits[folder], 32), folder)


def further(mutants, results, tree, binary, shard, modules):
    name = Path(binary).name.split("-")[0]
    for number, entry in sorted(read(results).items()):
        mutant = mutants[number - 1]
        if entry["outcome"] != "survived" or entry["by"] == name or number % shard[1] != shard[0]:
            continue
        if belongs(module_of(mutant["file"]), modules):
            note(results, number, mutant, tests(binary, tree, number, ["--skip", entry["by"]], 900, 64), name)


def score(mutants, state, results, modules):
    known = read(results)
    table = defaultdict(Counter)
    for number, mutant in enumerate(mutants, 1):
        module = module_of(mutant["file"])
        if not belongs(module, modules):
            continue
        what = state.get(str(number))
        if what == "in":
            what = known[number]["outcome"] if number in known else "not run"
        elif what != "unviable":
            what = "not switched"
        table[module][what] += 1
    total = Counter()
    for module, counts in sorted(table.items()):
        print(line_of(module, counts))
        total.update(counts)
    print(line_of("in sum", total))


def line_of(name, counts):
    caught = counts["caught"] + counts["timeout"]
    viable = caught + counts["survived"]
    rate = f"{100 * caught / viable:.1f} %" if viable else "-"
    rest = ", ".join(f"{counts[what]} {what}" for what in ("timeout", "unviable", "not switched", "not run") if counts[what])
    return f"{name}: {caught} of {viable} caught, {rate}" + (f" ({rest})" if rest else "")


def main():
    command, file, state, results, *rest = sys.argv[1:]
    mutants = json.loads(Path(file).read_text())
    state = json.loads(Path(state).read_text())
    if command == "score":
        score(mutants, state, results, rest)
        return
    tree, binary, *rest = rest
    shard = (0, 1)
    if rest[:1] == ["--shard"]:
        shard = tuple(int(part) for part in rest[1].split("/"))
        rest = rest[2:]
    if command == "run":
        run(mutants, state, results, tree, binary, shard, rest)
    else:
        further(mutants, results, tree, binary, shard, rest)


main()
