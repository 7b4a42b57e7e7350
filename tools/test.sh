#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tools/test.sh: builds, and passes the tests.  Suites that need reference data are skipped without it.
set -eu
cd "$(dirname "$0")/.."
sh tools/setup.sh
exec meson test -C "${BUILD:-build}" --no-rebuild --print-errorlogs
