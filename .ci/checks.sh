# The checks of .ci/run, one function each. Sourced, and run under `set -euo pipefail` and a time limit.

check_versions() {
    rustc --version
    cargo --version
    local tool
    for tool in node npm python3 git; do
        printf '%s: ' "$tool"
        "$tool" --version 2>&1 | head -1 || echo "not found"
    done
    nproc 2>/dev/null || true
}

# The fuzz targets are a workspace of their own, with a lock file of its own, and so is the program with tokio. They go stale
# when a dependency comes into the workspace, which is said here and not after half an hour.
check_fetch() {
    retry 280 cargo fetch --locked
    retry 280 cargo fetch --locked --manifest-path fuzz/Cargo.toml
    retry 280 cargo fetch --locked --manifest-path examples/tokio/Cargo.toml
    retry 280 cargo fetch --locked --manifest-path .ci/bare/Cargo.toml
}

check_format() {
    cargo fmt --all --check
    cargo fmt --check --manifest-path .ci/clients/rmcp/Cargo.toml
    cargo fmt --check --manifest-path examples/tokio/Cargo.toml
    cargo fmt --check --manifest-path .ci/bare/Cargo.toml
}

check_clippy() {
    cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
    cargo clippy --manifest-path examples/tokio/Cargo.toml --locked --quiet -- -D warnings
}

check_rustdoc() { RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps --locked --quiet; }

# Nothing that others build on changes unseen.
check_api() {
    local status=0
    .ci/api || status=$?
    [ "$status" -ne 77 ] || skip "the public API: the JSON of this toolchain's rustdoc is not known to tests/src/public_api"
    return "$status"
}

# readme_line N: the Nth line of the first block of shell commands in the README.
readme_line() {
    awk -v wanted="$1" '/^```sh$/ { inside = 1; next } /^```/ && inside { exit } inside && ++n == wanted' README.md
}

# lines KIND FILE: the lines of all blocks of that kind.
lines() { awk -v start="\`\`\`$1" '$0 == start { inside = 1; next } /^```/ { inside = 0 } inside' "$2"; }

# run_lines KIND FILE: runs each of them as it stands there, but for where Cargo builds. They take no input, and what they
# show they check themselves.
run_lines() {
    local target="${CARGO_TARGET_DIR:-target}" line ran=0
    export XDG_CONFIG_HOME="$PWD/.ci-cache/xdg/config" XDG_STATE_HOME="$PWD/.ci-cache/xdg/state"
    while IFS= read -r line; do
        echo "\$ $line"
        bash -euo pipefail -c "${line//target\//$target/}" </dev/null
        ran=$((ran + 1))
    done < <(lines "$1" "$2")
    [ "$ran" -gt 0 ] || fail "$2 has no such command: $1"
    echo "$ran commands ran"
}

# The README promises that both of its first commands work from a fresh clone, so they are run as they stand there.
check_readme_call() {
    local line output
    line=$(readme_line 1)
    [ -n "$line" ] || fail "the README has no first command"
    echo "\$ $line"
    # Whoever runs this may have servers of their own configured.
    export XDG_CONFIG_HOME="$PWD/.ci-cache/xdg/config" XDG_STATE_HOME="$PWD/.ci-cache/xdg/state"
    output=$(bash -c "$line")
    printf '%s\n' "$output"
    case $output in *hello*) ;; *) fail "the demo tool's answer is missing" ;; esac
}

check_readme_test() {
    local line
    line=$(readme_line 2)
    [ -n "$line" ] || fail "the README has no second command"
    echo "\$ $line"
    # As in a fresh clone: the real servers, which may be installed by now, have a stage of their own.
    export SANSWIRE_INTEROP_DIR="$PWD/.ci-cache/none"
    bash -c "$line" 2>&1 | tee .ci-cache/test.log
    awk '/^test result:/ { sum += $4 } END { print sum " tests passed"; exit !sum }' .ci-cache/test.log ||
        fail "no test ran"
}

# What the blocking runtime is on systems that are no Unix, tested on this one, and looked at without TLS. Nothing but
# the rooms for that may name what only Unix has, a signal's number in an exit status and a test of both sides aside.
check_plain() {
    if grep -rnE 'rustix|std::os::' system/src runtime-std/src | grep -vE '^[a-z-]+/src/os/(unix|tests\.rs:)|^system/src/exit\.rs:'; then
        fail "what needs Unix stands in os/unix of its crate"
    fi
    # The two crates have to be of one side, in the tests of their documentation too.
    export RUSTFLAGS="${RUSTFLAGS:-} --cfg sanswire_plain" RUSTDOCFLAGS="${RUSTDOCFLAGS:-} --cfg sanswire_plain"
    export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/plain"
    cargo clippy -p sanswire-system -p sanswire-std --all-targets --locked --quiet -- -D warnings
    cargo test -p sanswire-system -p sanswire-std --features sanswire-std/tls --locked --quiet 2>&1 | tee .ci-cache/plain.log
    awk '/^test result:/ { ran += $4; left += $8 } END { print ran " tests passed, " left " left out: they need Unix, or a process of their own"; exit !ran }' \
        .ci-cache/plain.log || fail "no test ran"
}

# Core must build where there is no std. The features of what is below it are looked at, a program without the standard
# library is built around it, which fails if anything brings std along, and where a bare-metal target is installed, for that.
check_no_std() {
    cargo build -p sanswire --no-default-features --locked --quiet
    grep -q '^#!\[no_std\]' core/src/lib.rs || fail "core is not no_std"
    local with_std target targets=
    with_std=$(cargo tree -p sanswire --no-default-features -e normal --prefix none --locked --format '{p} {f}' |
        awk '{ n = split($NF, on, ","); for (i = 1; i <= n; i++) if (on[i] == "std") print $1 }' | sort -u)
    [ -z "$with_std" ] || fail "with their std feature on, below core:" $with_std
    cargo build --manifest-path .ci/bare/Cargo.toml --target-dir "${CARGO_TARGET_DIR:-target}/bare" --locked --quiet
    for target in thumbv7em-none-eabi thumbv7em-none-eabihf thumbv7m-none-eabi riscv32imac-unknown-none-elf x86_64-unknown-none; do
        if [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; then
            echo "building for $target"
            cargo build --manifest-path .ci/bare/Cargo.toml --target-dir "${CARGO_TARGET_DIR:-target}/bare" --locked --quiet \
                --target "$target"
            targets="$targets $target"
        fi
    done
    [ -n "$targets" ] || note "no bare-metal target is installed (rustup target add thumbv7em-none-eabihf): core was built" \
        "into a program without std for this machine only"
}

# packages ARGUMENT...: the names in a tree of normal dependencies, without the project's own.
packages() {
    cargo tree -e normal --prefix none --locked --format '{p}' "$@" |
        awk '$1 && $1 !~ /^sanswire(-system|-std|-smol|-pair|-cli|-tests)?$/ { print $1 }' | sort -u
}

count() { echo "$1" | grep -c . || true; }

check_dependencies() {
    local core std smol smol_tls cli every direct name crate
    core=$(packages -p sanswire)
    std=$(packages -p sanswire-std --no-default-features)
    smol=$(packages -p sanswire-smol --no-default-features)
    smol_tls=$(packages -p sanswire-smol)
    cli=$(packages -p sanswire-cli)
    every=$(packages --workspace --all-features --target all)
    echo "sanswire: $(count "$core") packages (16 at most)"
    echo "sanswire-std without tls: $(count "$std") packages (24 at most)"
    echo "sanswire-smol without tls: $(count "$smol") packages (32 at most)"
    echo "sanswire-smol with tls: $(count "$smol_tls") packages (44 at most)"
    echo "sanswire-cli: $(count "$cli") packages"
    [ "$(count "$core")" -le 16 ] || fail "sanswire depends on too much:" $core
    [ "$(count "$std")" -le 24 ] || fail "sanswire-std depends on too much:" $std
    [ "$(count "$smol")" -le 32 ] || fail "sanswire-smol depends on too much:" $smol
    [ "$(count "$smol_tls")" -le 44 ] || fail "sanswire-smol with tls depends on too much:" $smol_tls
    if echo "$every" | grep -E '^(tokio|async-std)$'; then fail "an async runtime is in a normal dependency tree"; fi
    # Every direct dependency has its reason in the table of docs/architecture.md.
    for crate in sanswire sanswire-system sanswire-std sanswire-smol sanswire-pair sanswire-check sanswire-cli; do
        direct=$(packages -p "$crate" --depth 1 --all-features --target all)
        for name in $direct; do
            grep -q "^| \`$name\` " docs/architecture.md ||
                fail "$crate depends on $name, which docs/architecture.md does not explain"
        done
    done
}

# Every lock file: what may be built under which licence stands in deny.toml, and nothing comes from elsewhere than the
# registry. cargo-deny would say the same, but is long to build; what it is good for are advisories, where it has a database.
check_licences() {
    local manifest
    for manifest in Cargo.toml fuzz/Cargo.toml examples/tokio/Cargo.toml .ci/bare/Cargo.toml; do
        cargo tree --manifest-path "$manifest" --workspace --all-features --target all -e normal,build,dev --prefix none \
            --locked --format '{p}|{l}' | sed -e '/^sanswire/d' -e '/^$/d' -e 's/ (\*)$//' -e 's/^\([^ ]*\) [^|]*|/\1|/'
    done >.ci-cache/licences
    awk -f .ci/licences.awk deny.toml .ci-cache/licences || fail "deny.toml does not allow that"
    if git ls-files '*Cargo.lock' | xargs grep -n '^source = ' |
        grep -v '"registry+https://github.com/rust-lang/crates.io-index"$'; then
        fail "a package comes from elsewhere than the registry"
    fi
}

# Advisories need a tool and a database, and neither comes with the toolchain.
check_advisories() {
    command -v cargo-deny >/dev/null || skip "advisories: no cargo-deny (cargo install cargo-deny --locked)"
    compgen -G "${CARGO_HOME:-$HOME/.cargo}/advisory-dbs/*/.git" >/dev/null ||
        skip "advisories: no database (cargo deny fetch db, where the network is)"
    cargo deny --offline check advisories
}

# No clock, thread, socket or environment in core: outside of tests its sources do not name std at all.
check_structure() {
    local file folder
    while IFS= read -r file; do
        case $file in */tests.rs | */tests/*) continue ;; esac
        awk -v file="$file" '
            skipping { if ($0 ~ "^" indent "}") skipping = 0; next }
            /^[ \t]*#\[cfg\(test\)\]/ { match($0, /^[ \t]*/); indent = substr($0, 1, RLENGTH); pending = 1; next }
            pending && /^[ \t]*#\[/ { next }
            pending { pending = 0; if ($0 ~ /\{[ \t]*$/) skipping = 1; next }
            /^[ \t]*\/\// { next }
            /(^|[^A-Za-z0-9_:])std::|extern crate std/ { print file ":" FNR ": " $0 }
        ' "$file"
    done < <(find core/src -name '*.rs' | sort) | tee .ci-cache/structure
    [ ! -s .ci-cache/structure ] || fail "core names std"
    grep -q '^#!\[forbid(unsafe_code)\]' core/src/lib.rs || fail "core does not forbid unsafe code"
    # A file that no `mod` names is not compiled, and its tests pass by never being run.
    for file in $(git ls-files '*/tests/*.rs'); do
        folder=$(dirname "$file")
        case $file in */main.rs | */mod.rs) continue ;; esac
        # Cargo finds what stands directly in a package's folder of tests.
        [ ! -f "$folder/../Cargo.toml" ] || continue
        grep -qsE "mod $(basename "$file" .rs)( \{|;)" "$folder"/{main,mod}.rs "$folder.rs" || echo "$file"
    done | tee .ci-cache/structure
    [ ! -s .ci-cache/structure ] || fail "files that are no module"
}

# Pins are exact, and name packages rather than places to fetch them from.
check_pins() {
    local folder pins
    for folder in .ci/servers/npm .ci/clients/typescript .ci/clients/inspector .ci/clients/bridges .ci/conformance; do
        if grep -n '"resolved"' "$folder/package-lock.json"; then fail "download addresses in a lock file"; fi
        # What stands below the dependencies has one version and nothing else.
        if sed -n '/ependencies": {/,/}/p' "$folder/package.json" | grep '": "' | grep -vE '": "[0-9]+\.[0-9]+\.[0-9]+(-[a-z]+\.[0-9]+)?",?$'; then
            fail "a package in $folder is not pinned"
        fi
    done
    for pins in .ci/servers/python/requirements.txt .ci/clients/python/requirements-1.txt .ci/clients/python/requirements-2.txt; do
        if grep -vnE '^#|^[A-Za-z0-9_.-]+==[^ ]+$' "$pins"; then fail "a package in $pins is not pinned"; fi
    done
    if sed -n '/^\[dependencies\]/,/^$/p' .ci/clients/rmcp/Cargo.toml | grep '"' | grep -v '"=[0-9]'; then
        fail "a package of the Rust client is not pinned"
    fi
    [ -s .ci/clients/rmcp/Cargo.lock ] || fail "the Rust client has no lock file"
}

# 3 MiB held what lists and calls the tools of one server at a time; a host of many servers, policy, and the files of
# fifteen other programs are half a MiB more. HTTP for both roles is another half, and TLS 1 MiB, compiled for its size. Some 250
# checks of servers and clients, with their words and their reports, are 0.7 MiB.
check_size() {
    cargo build --release -p sanswire-cli --locked --quiet
    local size most=6815744
    cp "${CARGO_TARGET_DIR:-target}/release/sanswire" .ci-cache/sanswire-stripped
    strip .ci-cache/sanswire-stripped
    size=$(wc -c <.ci-cache/sanswire-stripped)
    echo "sanswire, release, stripped: $((size)) bytes ($most at most)"
    [ "$size" -le "$most" ] || fail "the binary is too big"
}

# Every trial of an installed server has to run, those of the binary too.
check_interop() {
    compgen -G '.ci-cache/*/.stamp' >/dev/null || skip "no server could be installed"
    interop --skip is_served
}

# The same of the clients, at the demo server.
check_clients() {
    compgen -G '.ci-cache/clients/*/.stamp' >/dev/null || skip "no client could be installed"
    interop is_served
}

# What the checker finds of servers, our own among them.
check_servers() {
    cargo build -p sanswire-cli --locked --quiet
    local status=0
    .ci/check-servers || status=$?
    [ "$status" -ne 77 ] || skip "the demo server was checked; no other server could be installed"
    return "$status"
}

# Both roles as the official suite sees them. Its last line is the score.
check_conformance() {
    [ -f .ci-cache/conformance/suite/.stamp ] || skip "the conformance suite could not be installed"
    tests/conformance/run
}

# interop ARGUMENT...: the trials that these choose. What is skipped all the same (a package without anything for
# this machine) is repeated at the end.
interop() {
    cargo build -p sanswire-cli --locked --quiet
    SANSWIRE_INTEROP=required cargo test -p sanswire-tests --test interop --locked --quiet -- "$@" 2>&1 |
        tee .ci-cache/interop.log
    local line
    grep '^interop: ' .ci-cache/interop.log | while IFS= read -r line; do
        grep -qxF "$line" .ci-cache/notes || note "$line"
    done || true
}

# Whole conversations by their seeds, with what golden rules and plain models say of them. About half a minute without load;
# a million in release takes minutes.
check_simulation() {
    cargo build -p sanswire-tests --bin simulate --locked --quiet
    "${CARGO_TARGET_DIR:-target}/debug/simulate" --seeds 0..20000 --jobs "$(nproc 2>/dev/null || echo 2)"
}

# What measures must itself go on working: every parser on every message but the longest, once, and the client's
# programs against the demo server. No time is looked at.
check_bench_smoke() {
    local target="${CARGO_TARGET_DIR:-target}/debug" parsers messages parser message mode
    cargo build -p sanswire-cli -p sanswire-std -p sanswire-smol -p sanswire-tests --bins --examples --locked --quiet
    parsers=$("$target/decode_bench" list | sed -n 's/^parsers: //p')
    messages=$("$target/decode_bench" list | sed -n 's/^messages: //p')
    [ -n "$parsers" ] && [ -n "$messages" ] || fail "decode_bench lists nothing"
    for parser in $parsers; do
        for message in $messages; do
            [ "$message" != text-16M ] || continue
            "$target/decode_bench" one "$parser" "$message" 1 | grep -q "^$parser $message: 1 x " ||
                fail "decode_bench does not run $parser on $message"
        done
        echo "decode_bench $parser"
    done
    for mode in start "seq 200" "par 200 16" "threads 200 8"; do
        echo "bench_client $mode"
        # A mode is several words.
        "$target/examples/bench_client" $mode -- "$target/sanswire" demo-server
    done
    for mode in start "seq 200" "par 200 16" "tasks 200 8"; do
        echo "bench_smol_client $mode"
        "$target/examples/bench_smol_client" $mode -- "$target/sanswire" demo-server
    done
    for mode in "par 200 16" "blob 300000 3"; do
        echo "bench_smol_server $mode"
        "$target/examples/bench_smol_client" $mode -- "$target/examples/bench_smol_server"
    done
    echo "pipe_bench"
    "$target/pipe_bench" 100 | grep -q "in flight, calls a second" || fail "pipe_bench measures nothing"
    echo "streams_bench"
    "$target/streams_bench" 50 4 | grep -q "^calls: [1-9]" || fail "streams_bench measures nothing"
}

# The programs that show how it is put into other programs, each by the command that stands beside its description.
check_examples() { run_lines sh docs/embedding.md; }

# Where nothing is but memory. What that page says of it is in blocks of another kind, since few have the target.
check_wasm() {
    local target=wasm32-unknown-unknown
    [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ] || skip "no $target (rustup target add $target)"
    cargo build -p sanswire --no-default-features --locked --quiet --target "$target"
    command -v node >/dev/null || skip "core builds for $target; no node to run it"
    run_lines shell docs/embedding.md
}

check_fuzz() {
    [ -e fuzz/smoke ] || skip "no fuzz targets yet"
    # The same inputs each time: what a longer run finds is not to hold up who changed something else.
    FUZZ_SEED=1 bash fuzz/smoke 12
}
