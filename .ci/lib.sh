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

# npm_install ci|install FROM TO: what the two package files in FROM ask for, into the folder TO.
npm_install() {
    rm -rf "$3"
    mkdir -p "$3"
    cp "$2/package.json" "$2/package-lock.json" "$2/.npmrc" "$3/"
    retry 180 npm --prefix "$3" "$1" --ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=5
}

# venv_install PINS TO: a Python environment of its own.
venv_install() {
    rm -rf "$2"
    python3 -m venv "$2" || return 1
    retry 180 "$2/bin/python" -m pip install --quiet --disable-pip-version-check --retries 5 \
        --only-binary :all: -r "$1"
}

# lanes FOLDER...: all that will be filled in $cache. Until it is, the name of each stands in $cache/failed, so that
# an installer that is stopped has failed at what it did not come to.
lanes() {
    mkdir -p "$cache"
    printf '%s\n' "$@" >"$cache/failed"
}

filled() {
    grep -vxF "$1" "$cache/failed" >"$cache/failed.new" || true
    mv "$cache/failed.new" "$cache/failed"
}

# lane FOLDER TOOL PIN...: runs install_FOLDER for the folder in $cache, if its pins, or the tool that fills it,
# changed. The folder's stamp is written last.
lane() {
    local folder=$1 tool=$2 stamp started=$SECONDS
    shift 2
    if ! command -v "$tool" >/dev/null; then
        echo "$folder: $tool is not on the path"
        return
    fi
    stamp="$(digest "$@") $("$tool" --version 2>&1 | head -1) $PWD"
    if [ -f "$cache/$folder/.stamp" ] && [ "$(cat "$cache/$folder/.stamp")" = "$stamp" ]; then
        echo "$folder: present"
        filled "$folder"
    elif rm -f "$cache/$folder/.stamp" && "install_$folder"; then
        echo "$stamp" >"$cache/$folder/.stamp"
        echo "$folder: installed in $((SECONDS - started)) s"
        filled "$folder"
    else
        echo "$folder: NOT installed"
    fi
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
