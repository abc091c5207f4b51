#!/usr/bin/env bash
# Installs what the tests need, builds everything, and runs all tests. Works on a fresh Debian 12 machine.
#   test/run.sh [ctest arguments]        e.g. test/run.sh -R golden
# Reference outputs are read from $OMNI_GOLDEN_DIR (default ../shared/golden); without them the golden tests are left out.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=app/setup.sh
source "$root/app/setup.sh"
cd "$root"

install_packages app/packages.txt test/packages.txt
fetch_default_models

say "Python environment of the client tests"
venv=$root/build/test-venv
[ -x "$venv/bin/python" ] || python3 -m venv "$venv" || die "python3 -m venv failed: install python3-venv."
"$venv/bin/python" -m pip install -q --disable-pip-version-check -r test/processes/requirements.txt ||
  die "pip could not install test/processes/requirements.txt: check the network, then run this again."

say "Building the parsers' fuzzers"
cmake --preset fuzz >/dev/null || die "CMake could not configure preset fuzz: its message is above."
cmake --build --preset fuzz || die "The fuzzers do not build: the compiler's message is above."
say "Building everything"
cmake --preset release -DOMNI_TEST_PYTHON="$venv/bin/python" >/dev/null || die "CMake could not configure preset release: its message is above."
cmake --build --preset release || die "The build failed: the compiler's message is above."

leave_out=()
if [ ! -d "${OMNI_GOLDEN_DIR:-$root/../shared/golden}" ]; then
  say "No reference outputs at ${OMNI_GOLDEN_DIR:-$root/../shared/golden}: the golden tests are left out (set OMNI_GOLDEN_DIR)"
  leave_out=(-E golden)
fi
say "Running the tests"
failed=0
ctest --preset release "${leave_out[@]}" "$@" || failed=1
ctest --preset fuzz "$@" --no-tests=ignore || failed=1
[ $failed -eq 0 ] || die "Some tests failed: they are listed above."
say "All tests passed."
