#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# parallel.sh DIR JOBS [key=value]...: a zoo scanned by several processes, with GNU parallel where there is one, else
# with xargs.  One machine needs neither (vramcast scan uses all its cores): this is the form that goes over hosts
# (parallel --sshlogin).  Records come in any order.
set -eu
dir=$1 jobs=$2
shift 2
list() {
    find "$dir" -name config.json | sed 's|/config.json$||'
}
if command -v parallel >/dev/null 2>&1; then
    list | parallel --jobs "$jobs" --pipe -N 100 vramcast scan --stdin --jobs 1 "$@"
else
    # each process writes whole lines, which are too long for a pipe to keep apart: a file each
    parts=$(mktemp -d)
    trap 'rm -rf "$parts"' EXIT
    # shellcheck disable=SC2016 # for the inner shell
    list | tr '\n' '\0' | PARTS=$parts xargs -0 -n 100 -P "$jobs" sh -c '
        words=$1
        shift
        printf "%s\n" "$@" | vramcast scan --stdin --jobs 1 $words >"$PARTS/$$.jsonl"' "$0" "$*"
    cat "$parts"/*.jsonl
fi
