# Functions shared by the scripts in this folder. Sourced by bash, never run.

# retry SECONDS COMMAND...: up to three tries, each under its own time limit, for commands that use the network.
# Never used for a test.
retry() {
    local limit=$1 pause try
    shift
    for try in 1 2 3; do
        timeout -k 10 "$limit" "$@" </dev/null && return 0
        echo "try $try of 3 failed: $*" >&2
        case $try in 1) pause=5 ;; 2) pause=20 ;; *) return 1 ;; esac
        sleep "$pause"
    done
}

# digest FILE...: one hash over the contents of the files.
digest() {
    if command -v sha256sum >/dev/null; then cat "$@" | sha256sum; else cat "$@" | shasum -a 256; fi | cut -d' ' -f1
}

# macOS has no `timeout` of its own; without one the commands run unlimited.
command -v timeout >/dev/null || timeout() { [ "$1" = -k ] && shift 2; shift; "$@"; }

# note TEXT...: a line that .ci/run repeats at its end.
note() { echo "$*" >>.ci-cache/notes; }

# fail TEXT..., skip TEXT...: end the check that calls it.
fail() {
    echo "error: $*"
    exit 1
}
skip() {
    echo "skipped: $*"
    note "skipped: $*"
    exit 77
}
