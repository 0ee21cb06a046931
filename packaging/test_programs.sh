#!/usr/bin/env bash
# Installs the programs that some tests need and that no Python or npm package carries: a browser, a tracer, a sandbox.
# Only where it can (Debian or Ubuntu, as root); elsewhere those tests say what is missing and are skipped.
set -euo pipefail
missing=()
command -v chromium > /dev/null || missing+=(chromium)
command -v strace > /dev/null || missing+=(strace)
command -v bwrap > /dev/null || missing+=(bubblewrap)
ls /usr/lib/*/faketime/libfaketime.so.1 > /dev/null 2>&1 || missing+=(libfaketime)
[ ${#missing[@]} -eq 0 ] && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get > /dev/null; then
    echo "Not installed, so some tests are skipped: ${missing[*]}"
    exit 0
fi
echo "Installing for the tests: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq && apt-get install -y -qq "${missing[@]}" > /dev/null || echo "Could not be installed: ${missing[*]}"
