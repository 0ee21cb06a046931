"""Commands, the files they run, and a change of one of those that makes an approval void."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Bound(NamedTuple):
    command: str | Sequence[str]
    files: Mapping[str, str]
    #: The file that changes.
    name: str
    content: str = "changed\n"


_BUILD = '{"scripts": {"build": "node b.js"}}'

BOUND = [
    # A script, however it is named and given
    Bound("sh b2.sh", {"b2.sh": "1"}, "b2.sh"),
    Bound("./b2.sh", {"b2.sh": "1"}, "b2.sh"),
    Bound("sh < b2.sh", {"b2.sh": "1"}, "b2.sh"),
    Bound("cat x.txt | sh", {"x.txt": "1"}, "x.txt"),
    Bound("sh 'a b.sh'", {"a b.sh": "1"}, "a b.sh"),
    Bound("sh a\\ b.sh", {"a b.sh": "1"}, "a b.sh"),
    Bound("sh b''.sh", {"b.sh": "1"}, "b.sh"),
    Bound("sh b?.sh", {"b1.sh": "1"}, "b1.sh"),
    Bound("sh {a,b}.sh", {"b.sh": "1"}, "b.sh"),
    Bound("X=b.sh; sh $X", {"b.sh": "1"}, "b.sh"),
    Bound("sh $(cat name)", {"name": "b.sh", "b.sh": "1"}, "b.sh"),
    Bound('eval "$(cat b.txt)"', {"b.txt": "1"}, "b.txt"),
    Bound("cd sub && sh b.sh", {"sub/b.sh": "1"}, "sub/b.sh"),
    Bound("(cd sub/deep; sh ../b.sh)", {"sub/b.sh": "1", "sub/deep/x": ""}, "sub/b.sh"),
    Bound("PATH=bin:$PATH tool", {"bin/tool": "1"}, "bin/tool"),
    Bound("export PATH=$PWD/bin; tool", {"bin/tool": "1"}, "bin/tool"),
    Bound("BASH_ENV=x.inc bash -c true", {"x.inc": "1"}, "x.inc"),
    Bound("bash --rcfile rc -i", {"rc": "1"}, "rc"),
    Bound("bash -c 'sh b.sh'", {"b.sh": "1"}, "b.sh"),
    Bound("bash -c '. ./b.inc; x'", {"b.inc": "1"}, "b.inc"),
    Bound("env FOO=1 timeout 5 sh b.sh", {"b.sh": "1"}, "b.sh"),
    Bound(["bash", "-c", "sh b.sh"], {"b.sh": "1"}, "b.sh"),
    Bound(["sh", "a b.sh"], {"a b.sh": "1"}, "a b.sh"),
    Bound("sh big.sh", {"big.sh": "#" * 300_000}, "big.sh"),
    Bound("true " * 1_000 + "; sh b.sh", {"b.sh": "1"}, "b.sh"),
    # What a script runs in turn
    Bound("sh b2.sh", {"b2.sh": ". ./c.inc", "c.inc": "1"}, "c.inc"),
    Bound("sh b2.sh", {"b2.sh": 'sh "$(dirname "$0")/c.sh"', "c.sh": "1"}, "c.sh"),
    Bound("sh b2.sh", {"b2.sh": 'HERE=.\nsh "$HERE/c.sh"', "c.sh": "1"}, "c.sh"),
    Bound("sh b2.sh", {"b2.sh": "for i in scripts/*.sh; do sh $i; done", "scripts/c.sh": "1"}, "scripts/c.sh"),
    Bound("sh b2.sh", {"b2.sh": "make x", "Makefile": "x:\n\techo 1"}, "Makefile"),
    Bound("sh b2.sh", {"b2.sh": "cd sub && make x", "sub/Makefile": "x:\n\techo 1"}, "sub/Makefile"),
    Bound("sh b2.sh", {"b2.sh": "npm test", "package.json": '{"scripts": {"test": "a"}}'}, "package.json"),
    Bound("sh b2.sh", {"b2.sh": "python3 helper", "helper": "1"}, "helper"),
    Bound("./run", {"run": "#!/bin/sh\n. lib/x", "lib/x": "1"}, "lib/x"),
    # Interpreters
    Bound("python x.py", {"x.py": "1"}, "x.py"),
    Bound("python3 x.py", {"x.py": "import helper\n", "helper.py": "1"}, "helper.py"),
    Bound("python3 x.py", {"x.py": "from pkg import sub\n", "pkg/__init__.py": "", "pkg/sub.py": "1"}, "pkg/sub.py"),
    Bound("python3 x.py", {"x.py": "import json\n"}, "json.py"),
    Bound("python3 x.py", {"x.py": "exec(open('data.txt').read())\n", "data.txt": "1"}, "data.txt"),
    Bound("python3 -m tool.sub", {"tool/sub.py": "1", "tool/__init__.py": ""}, "tool/sub.py"),
    Bound("python3 -c 'import helper'", {"helper.py": "1"}, "helper.py"),
    Bound("python3 < x.txt", {"x.txt": "1"}, "x.txt"),
    Bound("uv run x.py", {"x.py": "1"}, "x.py"),
    Bound("node x", {"x.js": "1"}, "x.js"),
    Bound("node -r ./pre.js x.js", {"x.js": "1", "pre.js": "1"}, "pre.js"),
    Bound("node --require=./pre.js x.js", {"x.js": "1", "pre.js": "1"}, "pre.js"),
    Bound("node --import ./pre.mjs x.js", {"x.js": "1", "pre.mjs": "1"}, "pre.mjs"),
    Bound("node x.js", {"x.js": "require('./lib/a')", "lib/a.js": "1"}, "lib/a.js"),
    Bound("node .", {"package.json": '{"main": "lib/m.js"}', "lib/m.js": "1"}, "lib/m.js"),
    Bound("perl -Ilib -MFoo -e1", {"lib/Foo.pm": "1"}, "lib/Foo.pm"),
    Bound("ruby -r./x y.rb", {"x.rb": "1", "y.rb": "1"}, "x.rb"),
    Bound("awk -f prog.awk data", {"prog.awk": "1", "data": ""}, "prog.awk"),
    Bound("sed -f prog data", {"prog": "1", "data": ""}, "prog"),
    Bound("java -jar app.jar", {"app.jar": "1"}, "app.jar"),
    Bound("psql -f x.sql", {"x.sql": "1"}, "x.sql"),
    # Builds and package scripts
    Bound("make -f other.mk", {"other.mk": "1"}, "other.mk"),
    Bound("make -fother", {"other": "1"}, "other"),
    Bound("make --file=other", {"other": "1"}, "other"),
    Bound("make -C sub", {"sub/Makefile": "1"}, "sub/Makefile"),
    Bound("make", {"Makefile": "include inc/x\n", "inc/x": "1"}, "inc/x"),
    Bound("make", {"Makefile": "a:\n\tsh do.sh\n", "do.sh": "1"}, "do.sh"),
    Bound("make", {"Makefile": "a:\n\ttrue\n"}, "GNUmakefile"),
    Bound("npm run build", {"package.json": _BUILD, "b.js": "1"}, "b.js"),
    Bound("npm run build", {"package.json": _BUILD, "b.js": "1"}, "package.json", '{"scripts": {"build": "x"}}'),
    Bound("npm run build", {"package.json": _BUILD, "b.js": "1"}, ".npmrc", "script-shell=evil"),
    Bound("npm --prefix sub run build", {"sub/package.json": _BUILD, "sub/b.js": "1"}, "sub/b.js"),
    Bound(
        "npm run -w pk build",
        {"package.json": '{"workspaces": ["packages/*"]}', "packages/pk/package.json": _BUILD},
        "packages/pk/package.json",
        '{"scripts": {"build": "x"}}',
    ),
    Bound("npx tool", {"node_modules/.bin/tool": "1"}, "node_modules/.bin/tool"),
    Bound("npx eslint --config cfg/x.js .", {"cfg/x.js": "1"}, "cfg/x.js"),
    Bound("mypy .", {"mypy.ini": "[mypy]\nplugins=plug.py", "plug.py": "1"}, "plug.py"),
    Bound("tox", {"tox.ini": "commands = sh x.sh", "x.sh": "1"}, "x.sh"),
    Bound("just x", {"justfile": "1"}, "justfile"),
    Bound("docker compose -f d.yml up", {"d.yml": "1"}, "d.yml"),
    Bound("git commit -m x", {".git/hooks/pre-commit": "1"}, ".git/hooks/pre-commit"),
    # Programs that run all of a project
    Bound("pytest -p plug", {"plug.py": "1"}, "plug.py"),
    Bound("pytest", {"tests/conftest.py": "1"}, "tests/conftest.py"),
    Bound("pytest", {"tests/test_a.py": "1"}, "tests/test_a.py"),
    Bound("python3 -m unittest", {"test_a.py": "1"}, "test_a.py"),
    Bound("node --test", {"a.test.js": "1"}, "a.test.js"),
    Bound("go run ./cmd/x", {"cmd/x/main.go": "1", "go.mod": "x"}, "cmd/x/main.go"),
    Bound("cargo run", {"src/main.rs": "1", "Cargo.toml": "x"}, "src/main.rs"),
    Bound("terraform apply", {"main.tf": "1"}, "main.tf"),
    Bound("./gradlew build", {"gradlew": "1", "app/build.gradle": "1"}, "app/build.gradle"),
    Bound("find . -name '*.sh' -exec sh {} ;", {"sub/b.sh": "1"}, "sub/b.sh"),
    Bound("find . -name '*.sh' | xargs -n1 sh", {"sub/b.sh": "1"}, "sub/b.sh"),
]

#: A change that leaves the approval as it is.
UNBOUND = [
    Bound("echo one >> log.txt", {}, "log.txt"),
    Bound("python3 x.py", {"x.py": "# go on and find it\nopen('out.txt', 'w')\n"}, "out.txt"),
    Bound("python3 x.py", {"x.py": "print('make it so')\n", "other.py": "1"}, "other.py"),
    Bound("sh b.sh", {"b.sh": "echo a > out.log\n"}, "out.log"),
    Bound("sh b.sh", {"b.sh": "echo hi\n", "src/main.py": "1"}, "src/main.py"),
    Bound("npm run build", {"package.json": '{"scripts": {"build": "tsc"}}', "src/a.ts": "1"}, "src/a.ts"),
    Bound("npm install", {"package.json": "{}", "a.js": "1"}, "a.js"),
    Bound("cp x.txt y.txt", {"x.txt": "1"}, "x.txt"),
    Bound("git push", {"a.py": "1"}, "a.py"),
    Bound("make build", {"Makefile": "build:\n\tcc -o app main.c\n", "README.md": "x"}, "README.md"),
]
