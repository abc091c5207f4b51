#!/usr/bin/env bash
# Sets everything up on Debian 12, starts omni-serve and lets you hear it.
#   app/quickstart.sh [--port N] [--once]
#   --port N   serve on 127.0.0.1:N (default 8000)
#   --once     end after the demo instead of leaving the server in the foreground
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=app/setup.sh
source "$root/app/setup.sh"

port=8000
once=0
while [ $# -gt 0 ]; do
  case $1 in
    --port)
      port=${2:-}
      [[ $port =~ ^[1-9][0-9]{0,4}$ && $port -le 65535 ]] || die "--port takes a number from 1 to 65535, found '$port'."
      shift 2
      ;;
    --once) once=1 && shift ;;
    -h | --help) sed -n '2,5s/^# \{0,1\}//p' "$0" && exit 0 ;;
    *) die "Unknown option '$1': this script knows --port N and --once." ;;
  esac
done

install_packages "$root/app/packages.txt"

say "Building (the first time takes some minutes)"
(cd "$root" && cmake --preset release >"$root/build.log" 2>&1) || die "CMake could not configure the build: see $root/build.log."
rm -f "$root/build.log"
(cd "$root" && cmake --build --preset release --target omni-serve) || die "The build failed: its last lines are above."

fetch_default_models

if python3 -c "import socket; socket.create_connection(('127.0.0.1', $port), 1)" 2>/dev/null; then
  die "Port $port is in use: stop what listens there, or choose another with --port N."
fi

say "Starting omni-serve on http://127.0.0.1:$port"
set -m # the server gets a process group of its own: Ctrl-C reaches it once, through the trap below
"$root/build/release/app/omni-serve" --port "$port" &
server=$!
set +m
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true' EXIT
python3 "$root/app/quickstart_demo.py" --url "http://127.0.0.1:$port" --wav demo.wav --server-pid "$server" ||
  die "The demo did not get its answer: the lines above say why."

if [ $once -eq 1 ]; then exit 0; fi
say "omni-serve keeps running; Ctrl-C stops it."
trap - EXIT
trap 'kill -TERM "$server" 2>/dev/null || true' INT TERM
code=0
while :; do # a signal ends the wait before the server ends
  code=0
  wait "$server" || code=$?
  kill -0 "$server" 2>/dev/null || break
done
[ $code -eq 0 ] || [ $code -eq 130 ] || [ $code -eq 143 ] || die "omni-serve ended with status $code: its last lines are above."
