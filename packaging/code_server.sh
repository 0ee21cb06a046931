#!/usr/bin/env bash
# Installs code-server (VS Code in a browser) and the Node.js it needs into a directory, for the tests of the extension.
set -euo pipefail
directory=$1
[ -e "$directory/installed" ] && exit 0
echo "Installing code-server into $directory (about 900 MB) …"
platform=$(node -p 'process.platform + "-" + process.arch')
quiet=(--ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error)
mkdir -p "$directory"
cd "$directory"
echo '{"private": true}' > package.json
npm install "${quiet[@]}" code-server@4.139.1 "node-$platform@24" > /dev/null
for part in lib/vscode lib/vscode/extensions; do
    (cd "node_modules/code-server/$part" && npm install "${quiet[@]}" --omit=dev > /dev/null)
done
touch installed
