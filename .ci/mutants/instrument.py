"""All mutants of a crate in one build, each behind a switch.

cargo-mutants says what the mutants are. Building each of them takes ten times as long as the tests that catch it, so here every
one is written into the source at once: `a < b` becomes `(if crate::mutant(7) { a <= b } else { a < b })`, and a function begins
with `if crate::mutant(8) { return 0; }`. The environment variable SANSWIRE_MUTANT chooses one while the tests run.

    instrument.py list MUTANTS [MODULE...]         what would be written in, by module
    instrument.py write MUTANTS TREE OUT [MODULE...]
                                                    writes into the sources of TREE, builds, and takes out again what does
                                                    not compile; what became of each mutant stands in OUT
"""

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import tree_sitter_rust
from tree_sitter import Language, Parser

SWITCH = """
/// Whether the mutant of this number is the one that was chosen.
#[doc(hidden)]
pub fn mutant(number: u32) -> bool {
    use core::sync::atomic::{AtomicU32, Ordering};
    static CHOSEN: AtomicU32 = AtomicU32::new(u32::MAX);
    let mut chosen = CHOSEN.load(Ordering::Relaxed);
    if chosen == u32::MAX {
        chosen = std::env::var("SANSWIRE_MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
        CHOSEN.store(chosen, Ordering::Relaxed);
    }
    chosen == number
}
"""

# What is computed while compiling cannot ask for a switch.
CONSTANT = {"const_item", "static_item", "array_type", "enum_variant", "const_block", "const_parameter", "type_arguments"}


def module_of(file):
    """`client/era` of `core/src/client/era.rs`."""
    return file.split("/src/", 1)[1].removesuffix(".rs")


def chosen(mutants, modules):
    for number, mutant in enumerate(mutants, 1):
        module = module_of(mutant["file"])
        if not modules or any(module == wanted or module.startswith(wanted + "/") for wanted in modules):
            yield number, mutant


class Source:
    """One file with the mutants that are written into it."""

    def __init__(self, text):
        self.bytes = text.encode()
        self.lines = text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line.encode()) + 1)
        self.tree = Parser(Language(tree_sitter_rust.language())).parse(self.bytes)
        self.wraps = defaultdict(list)
        self.inserts = defaultdict(list)

    def at(self, place):
        line = place["line"] - 1
        return self.starts[line] + len(self.lines[line][: place["column"] - 1].encode())

    def text(self, start, end):
        return self.bytes[start:end].decode()

    def around(self, start, end, kinds):
        """The smallest node of one of these kinds around a place."""
        node = self.tree.root_node.descendant_for_byte_range(start, max(start, end - 1))
        while node is not None and node.type not in kinds:
            node = node.parent
        return node

    def put(self, number, mutant):
        """Adds a mutant; says why not where it cannot be."""
        start, end = self.at(mutant["span"]["start"]), self.at(mutant["span"]["end"])
        to = mutant["replacement"]
        genre = mutant["genre"]
        holder = self.around(start, end, CONSTANT | {"function_item", "closure_expression"})
        if holder is not None and holder.type in CONSTANT:
            return "constant"
        if genre == "FnValue" and "impl " in mutant["function"]["return_type"]:
            # Two sides of a switch are of one type.
            return "impl Trait"
        if genre == "FnValue":
            body = self.around(start, end, {"function_item"}).child_by_field_name("body")
            self.inserts[body.start_byte + 1].append(
                f" if crate::mutant({number}) {{ /*m{number}*/ return {to}; /*e{number}*/ }}"
            )
        elif genre == "BinaryOperator":
            node = self.around(start, end, {"binary_expression", "compound_assignment_expr", "let_chain"})
            if node is None or node.type == "let_chain" or "let_c" in str(node):
                return "in a chain of `let`"
            operator = next((child for child in node.children if child.start_byte == start), None)
            if operator is None:
                return "not found"
            # As in the source: a lower operator than the one it stands for takes no more than its two sides.
            left = self.text(node.start_byte, operator.start_byte)
            right = self.text(operator.end_byte, node.end_byte)
            self.wraps[(node.start_byte, node.end_byte)].append((number, f"{left}{to}{right}", None))
        elif genre == "UnaryOperator":
            node = self.around(start, end, {"unary_expression"})
            if node is None or node.start_byte != start:
                return "not found"
            self.wraps[(node.start_byte, node.end_byte)].append((number, self.text(start + 1, node.end_byte), None))
        elif genre in ("MatchArmGuard", "MatchArm"):
            pattern = self.around(start, end, {"match_arm"}).child_by_field_name("pattern")
            guard = pattern.child_by_field_name("condition")
            if guard is None:
                self.inserts[pattern.end_byte].append(f" if !crate::mutant({number})")
            elif guard.type.startswith("let_"):
                return "in a chain of `let`"
            else:
                form = "(crate::mutant({0}) || ({1}))" if to == "true" else "(!crate::mutant({0}) && ({1}))"
                self.wraps[(guard.start_byte, guard.end_byte)].append((number, None, form))
        elif genre == "StructField":
            node = self.around(start, end, {"struct_expression"})
            rest = self.text(end, node.end_byte).lstrip().removeprefix(",")
            self.wraps[(node.start_byte, node.end_byte)].append(
                (number, self.text(node.start_byte, start) + rest, None)
            )
        else:
            return f"{genre} is unknown"
        return None

    def rendered(self):
        ends = sorted(self.wraps, key=lambda span: (span[0], -span[1]))

        def render(start, end, spans):
            out, at = [], start
            while spans:
                first, *rest = spans
                inner = [span for span in rest if span[1] <= first[1]]
                out.append(plain(at, first[0]))
                text = render(first[0], first[1], inner)
                for number, other, form in self.wraps[first]:
                    if form:
                        text = form.format(number, text)
                    else:
                        text = f"(if crate::mutant({number}) {{ /*m{number}*/ {other} /*e{number}*/ }} else {{ {text} }})"
                out.append(text)
                at = first[1]
                spans = [span for span in rest if span[0] >= first[1]]
            out.append(plain(at, end))
            return "".join(out)

        done = set()

        def plain(start, end):
            out, at = [], start
            for place in sorted(place for place in self.inserts if start <= place <= end and place not in done):
                done.add(place)
                out.append(self.text(at, place))
                out.extend(self.inserts[place])
                at = place
            out.append(self.text(at, end))
            return "".join(out)

        return render(0, len(self.bytes), ends)


def build(tree, command):
    """The places of what does not compile: file, line and column."""
    done = subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, text=True, check=False)
    places = []
    for line in done.stdout.splitlines():
        if not line.startswith("{"):
            continue
        message = json.loads(line).get("message")
        if not isinstance(message, dict) or message["level"] != "error":
            continue
        for span in message["spans"]:
            while span.get("expansion") and not span["file_name"].startswith("core/"):
                span = span["expansion"]["span"]
            if span["is_primary"]:
                code = (message["code"] or {}).get("code")
                places.append((span["file_name"], span["line_start"], span["column_start"], code, message["rendered"]))
    return done.returncode, places


def arms(text, line, column):
    """The switches at the arms of the match whose value stands at this place."""
    source = Source(text)
    place = source.at({"line": line, "column": column})
    node = source.around(place, place + 1, {"match_expression"})
    found = []
    for arm in node.child_by_field_name("body").children if node else []:
        if arm.type == "match_arm":
            pattern = arm.child_by_field_name("pattern")
            found += re.findall(r"^\s*!crate::mutant\((\d+)\)$", source.text(*guard_of(pattern)))
    return [int(number) for number in found]


def guard_of(pattern):
    guard = pattern.child_by_field_name("condition")
    return (guard.start_byte, guard.end_byte) if guard else (0, 0)


def without_const(text, source_functions):
    """Functions with mutants are no longer `const`, but for those that constants are made of."""
    for name in source_functions:
        text = re.sub(rf"\bconst fn {name}\b", f"fn {name}", text)
    return text


def write(mutants, tree, out, modules):
    tree = Path(tree)
    state = {}
    keep_const = set()
    while True:
        files = defaultdict(list)
        for number, mutant in chosen(mutants, modules):
            files[mutant["file"]].append((number, mutant))
        for file, found in files.items():
            original = subprocess.run(["git", "show", f"HEAD:{file}"], cwd=tree, stdout=subprocess.PIPE, text=True, check=True)
            source = Source(original.stdout)
            functions = set()
            for number, mutant in found:
                if state.get(number) in (None, "in"):
                    function = mutant["function"]["function_name"].split("::")[-1] if mutant["function"] else ""
                    if function in keep_const and re.search(rf"\bconst fn {function}\b", original.stdout):
                        state[number] = "constant"
                        continue
                    why = source.put(number, mutant)
                    state[number] = why or "in"
                    if not why:
                        functions.add(function)
            (tree / file).write_text(without_const(source.rendered(), functions - keep_const))
        root = tree / "core/src/lib.rs"
        original = subprocess.run(["git", "show", "HEAD:core/src/lib.rs"], cwd=tree, stdout=subprocess.PIPE, text=True, check=True).stdout
        original = re.sub(r"#\[cfg\(test\)\]\s*(#\[macro_use\]\s*)?extern crate std;", "", original)
        # What overflows for certain is a mutant as good as any.
        original = original.replace("#![no_std]", "#![no_std]\n#![allow(arithmetic_overflow, unconditional_panic)]", 1)
        root.write_text(original.replace("extern crate alloc;", "extern crate alloc;\n#[macro_use]\nextern crate std;\n", 1) + SWITCH)
        status, places = build(tree, ["cargo", "check", "-p", "sanswire", "--lib", "--message-format=json", "--quiet"])
        if status == 0:
            break
        taken = set()
        for file, line, column, code, rendered in places:
            text = (tree / file).read_text()
            if code == "E0004":
                # The match has no arm for everything, so none of its arms can go.
                for number in arms(text, line, column):
                    state[number] = "unviable"
                    taken.add(number)
                continue
            at = sum(len(other) + 1 for other in text.split("\n")[: line - 1]) + column - 1
            inside = [
                int(mark.group(1))
                for mark in re.finditer(r"/\*m(\d+)\*/.*?/\*e\1\*/", text, re.DOTALL)
                if mark.start() <= at <= mark.end()
            ]
            constant = re.search(r"cannot call non-const .*?`(?:[^`]*::)?(\w+)`", rendered)
            if constant:
                keep_const.add(constant.group(1))
                taken.add(constant.group(1))
            elif inside:
                number = inside[-1]
                state[number] = "unviable"
                taken.add(number)
            else:
                print(rendered)
        print(f"{len(taken)} taken out")
        if not taken:
            sys.exit("what does not compile is no mutant")
    Path(out).write_text(json.dumps(state))


def main():
    command, file, *rest = sys.argv[1:]
    mutants = json.loads(Path(file).read_text())
    if command == "list":
        for number, mutant in chosen(mutants, rest):
            print(number, mutant["name"])
    else:
        write(mutants, rest[0], rest[1], rest[2:])


main()
