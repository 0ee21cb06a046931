"""Patterns and texts that make a backtracking matcher work for years, and paths that they are compared with."""

_LONG = "a" * 200
#: Names and paths without a match for most patterns, but with many ways to nearly match.
PATHS = (
    _LONG,
    "a/" * 100 + "a",
    "ab" * 100,
    "aab/" * 50 + "aab",
    "." * 150,
    "-_" * 100,
    "a b" * 60,
    "aA" * 100,
    "ä" * 120,
    "[a]" * 50,
)
_UNITS = (
    "*a",
    "a*",
    "*a*",
    "?*",
    "*?",
    "**a",
    "a**",
    "[ab]*",
    "*[ab]",
    "[!b]*",
    "*[!/]",
    "**/a/",
    "**/*a",
    "*.a",
    "*a/*",
)
_ENDS = ("b", "/b", "*b", "?")
_COUNTS = (10, 40)
#: Globs as a model writes them for find_files, at most 1,000 characters.
GLOBS = tuple(
    dict.fromkeys(
        [
            *((unit * count)[:900] + end for unit in _UNITS for end in _ENDS for count in _COUNTS),
            "{*a,*b}" * 14 + "c",
            "{a,aa}" * 16 + "b",
            "{,a}" * 16 + "b",
            "{*,**}" * 16 + "b",
            "{a*,{a*,{a*,{a*,b}}}}" * 5 + "c",
            "{" * 30 + "*a" + "}" * 30 + "*b",
            "**/" * 200 + "b",
            "*" * 900 + "b",
            "?" * 900,
            "[a-z]*" * 150 + "0",
            "[!a-y]*" * 120 + "0",
            "**/{a,**/a}/" * 20 + "b",
            "*" + "a" * 900 + "b",
            "a" * 450 + "*" + "a" * 450 + "b",
            "\\*a*" * 200 + "b",
            "*/" * 300 + "b",
        ]
    )
)
#: Files of rules, as a repository brings them.
IGNORE_FILES = (
    "*a" * 30 + "*b",
    "\n".join(f"{'*a' * 20}{number}" for number in range(3_000)),
    "\n".join(f"!**/{'a*' * 20}{number}/" for number in range(3_000)),
    "\n".join(f"*{'a' * 500}{number}" for number in range(500)),
    "\n".join(f"a{number}*[ab]?*" for number in range(5_000)),
    "*" * 100_000,
    "[" * 100_000,
    "\\" * 100_000,
    "/**/" * 20_000,
    "\n" * 500_000,
    " " * 500_000,
    "a\n" * 200_000,
)
#: Texts of files, reports and configuration.
TEXTS = {
    "line ends": "\n" * 200_000,
    "blanks": " " * 200_000,
    "an import with blanks": "from" + " " * 200_000,
    "imports with blanks": ("import" + " " * 500) * 400,
    "an open parenthesis": "require(" + " " * 200_000,
    "comments": "#" * 200_000,
    "dots": "." * 200_000 + "x",
    "words": "a-" * 100_000,
    "open comments": "<!--" * 50_000,
    "fences": "```\n" * 50_000,
    "quotes": "'" * 200_000,
    "sections": "[a" * 100_000,
    "escapes": "\\" * 200_000,
    "one long value": "a=" + "b" * 200_000,
    "polite": "please " * 20_000 + "!",
}
