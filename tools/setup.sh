#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tools/setup.sh: installs what a build needs and this Debian machine lacks, then configures and builds.
# The build folder is ./build, or $BUILD.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}

need=""
want() { # command-or-module package
    case $1 in
    pc:*) pkg-config --exists "${1#pc:}" 2>/dev/null || need="$need $2" ;;
    h:*) [ -e "/usr/include/${1#h:}" ] || need="$need $2" ;;
    *) command -v "$1" >/dev/null 2>&1 || need="$need $2" ;;
    esac
}
want cc gcc
want h:stdio.h libc6-dev
want meson meson
want ninja ninja-build
want pkg-config pkg-config
want python3 python3-minimal
want protoc-c protobuf-c-compiler
want pc:libprotobuf-c libprotobuf-c-dev
want pc:cmocka libcmocka-dev
want pc:zlib zlib1g-dev
want pc:libpcre2-8 libpcre2-dev
want pc:jansson libjansson-dev
want pc:yaml-0.1 libyaml-dev
want pc:sqlite3 libsqlite3-dev

if [ -n "$need" ]; then
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "setup: these Debian packages, or what they hold, are missing:$need" >&2
        exit 1
    fi
    as_root=""
    [ "$(id -u)" = 0 ] || as_root=sudo
    echo "setup: installing$need"
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086 # a list of words
    $as_root apt-get install -y -q --no-install-recommends $need >/dev/null 2>&1 ||
        { $as_root apt-get update -q >/dev/null &&
          $as_root apt-get install -y -q --no-install-recommends $need >/dev/null; }
fi

if [ ! -e "$build/build.ninja" ]; then
    log=$(meson setup "$build" 2>&1) || { echo "$log" | tail -n 20 >&2; exit 1; }
fi
log=$(ninja -C "$build" 2>&1) || { echo "$log" | tail -n 40 >&2; exit 1; }
echo "$log" | tail -n 1
