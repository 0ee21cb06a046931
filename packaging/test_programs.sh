#!/usr/bin/env bash
# Installs the programs that some tests need and no Python or npm package carries: a browser, a tracer, a
# sandbox, PostgreSQL and Redis.
# Works on Debian or Ubuntu as root; elsewhere the tests that need them skip with a reason. Never fails.
missing=()
command -v chromium > /dev/null || missing+=(chromium)
command -v strace > /dev/null || missing+=(strace)
command -v bwrap > /dev/null || missing+=(bubblewrap)
ls /usr/lib/postgresql/*/bin/postgres > /dev/null 2>&1 || missing+=(postgresql)
command -v redis-server > /dev/null || missing+=(redis-server)
ls /usr/lib/*/faketime/libfaketime.so.1 > /dev/null 2>&1 || missing+=(libfaketime)
[ ${#missing[@]} -eq 0 ] && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get > /dev/null; then
    echo "Missing, so some tests are skipped: ${missing[*]}"
    exit 0
fi
echo "Installing for the tests: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
install() { apt-get install -y -qq "${missing[@]}" > /dev/null 2>&1; }
install || { apt-get update -qq > /dev/null 2>&1 && install; } || echo "Couldn't install them, so some tests are skipped."
exit 0
