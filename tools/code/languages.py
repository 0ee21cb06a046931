"""Node types of the supported languages, and their parsers. Grammars load on first use."""

import time
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

#: Of processor time. A megabyte of ordinary code takes a quarter of a second; a repository may hold a file of which its
#: grammar makes no sense in minutes.
_SECONDS = 2.0
#: Smaller texts are parsed at once; none of them takes long.
_SMALL = 16 << 10
_PIECE = 2_048


@dataclass(frozen=True, slots=True)
class Language:
    name: str
    module: str
    #: Node types of definitions, with the kind of each.
    definitions: dict[str, str]
    imports: frozenset[str]
    calls: dict[str, str]
    branches: frozenset[str]
    function: str = "language"


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def pairs(text: str) -> dict[str, str]:
    """`name=value` words as a dictionary."""
    return {name: value for name, _, value in (word.partition("=") for word in text.split())}


_C_BRANCHES = words(
    "if_statement for_statement while_statement do_statement case_statement conditional_expression catch_clause"
)
_PYTHON = Language(
    "Python",
    "tree_sitter_python",
    {"function_definition": "function", "class_definition": "class"},
    words("import_statement import_from_statement future_import_statement"),
    {"call": "function"},
    words(
        "if_statement elif_clause for_statement while_statement except_clause conditional_expression boolean_operator "
        "case_clause for_in_clause if_clause"
    ),
)
_SCRIPT_DEFINITIONS = pairs(
    "function_declaration=function generator_function_declaration=function class_declaration=class "
    "method_definition=method variable_declarator=variable"
)
_SCRIPT_BRANCHES = words(
    "if_statement for_statement for_in_statement while_statement do_statement switch_case catch_clause "
    "ternary_expression"
)
_SCRIPT_CALLS = {"call_expression": "function", "new_expression": "constructor"}
_JAVASCRIPT = Language(
    "JavaScript",
    "tree_sitter_javascript",
    _SCRIPT_DEFINITIONS,
    words("import_statement"),
    _SCRIPT_CALLS,
    _SCRIPT_BRANCHES,
)
_TYPED = _SCRIPT_DEFINITIONS | pairs(
    "abstract_class_declaration=class interface_declaration=interface type_alias_declaration=type "
    "enum_declaration=enum method_signature=method"
)
_TYPESCRIPT = Language(
    "TypeScript",
    "tree_sitter_typescript",
    _TYPED,
    words("import_statement"),
    _SCRIPT_CALLS,
    _SCRIPT_BRANCHES,
    "language_typescript",
)
_TSX = replace(_TYPESCRIPT, name="TSX", function="language_tsx")
_GO = Language(
    "Go",
    "tree_sitter_go",
    {"function_declaration": "function", "method_declaration": "method", "type_spec": "type"},
    words("import_spec"),
    {"call_expression": "function"},
    words("if_statement for_statement expression_case type_case communication_case"),
)
_RUST = Language(
    "Rust",
    "tree_sitter_rust",
    pairs(
        "function_item=function struct_item=struct enum_item=enum trait_item=trait mod_item=module type_item=type "
        "const_item=constant macro_definition=macro function_signature_item=function"
    ),
    words("use_declaration extern_crate_declaration"),
    {"call_expression": "function", "macro_invocation": "macro"},
    words("if_expression for_expression while_expression loop_expression match_arm try_expression"),
)
_JAVA = Language(
    "Java",
    "tree_sitter_java",
    pairs(
        "class_declaration=class interface_declaration=interface enum_declaration=enum record_declaration=record "
        "method_declaration=method constructor_declaration=constructor"
    ),
    words("import_declaration"),
    {"method_invocation": "name", "object_creation_expression": "type"},
    _C_BRANCHES | words("enhanced_for_statement switch_label ternary_expression"),
)
_C = Language(
    "C",
    "tree_sitter_c",
    pairs(
        "function_definition=function struct_specifier=struct enum_specifier=enum union_specifier=union "
        "type_definition=type"
    ),
    words("preproc_include"),
    {"call_expression": "function"},
    _C_BRANCHES,
)
_CPP = Language(
    "C++",
    "tree_sitter_cpp",
    {**_C.definitions, "class_specifier": "class", "namespace_definition": "namespace", "alias_declaration": "type"},
    words("preproc_include using_declaration"),
    {"call_expression": "function"},
    _C_BRANCHES | words("for_range_loop"),
)

_LANGUAGES = (
    (_PYTHON, ".py .pyi"),
    (_JAVASCRIPT, ".js .jsx .mjs .cjs"),
    (_TYPESCRIPT, ".ts .mts .cts"),
    (_TSX, ".tsx"),
    (_GO, ".go"),
    (_RUST, ".rs"),
    (_JAVA, ".java"),
    (_C, ".c .h"),
    (_CPP, ".cpp .cc .cxx .hpp .hh .hxx"),
)
SUFFIXES = {suffix: language for language, suffixes in _LANGUAGES for suffix in suffixes.split()}


#: Languages whose lines are counted, but whose code isn't analysed.
_COUNTED = {
    "CSS": ".css .scss .less",
    "HTML": ".html .htm .vue .svelte",
    "Shell": ".sh .bash .zsh",
    "SQL": ".sql",
    "C#": ".cs",
    "Kotlin": ".kt .kts",
    "Swift": ".swift",
    "Ruby": ".rb",
    "PHP": ".php",
    "Scala": ".scala",
    "Lua": ".lua",
    "Elixir": ".ex .exs",
    "Dart": ".dart",
    "R": ".r",
}
_NAMES = {suffix: name for name, suffixes in _COUNTED.items() for suffix in suffixes.split()}


def language_name(path: str) -> str | None:
    """The name of a file's programming language, also of one whose code isn't analysed."""
    language = language_of(path)
    if language is not None:
        return "TypeScript" if language is _TSX else language.name
    return _NAMES.get(_suffix(path))


def language_of(path: str) -> Language | None:
    return SUFFIXES.get(_suffix(path))


def _suffix(path: str) -> str:
    name = path.rpartition("/")[2]
    return name[name.rfind(".") :].lower() if "." in name else ""


@cache
def parser(module: str, function: str) -> "Parser":
    from tree_sitter import Language as Grammar
    from tree_sitter import Parser

    return Parser(Grammar(getattr(import_module(module), function)()))


class ParsedText(NamedTuple):
    root: "Node"
    #: The rest took too long and isn't in the tree.
    cut: bool = False


class _Pieces:
    """Hands the text to the parser bit by bit: other threads run in between. Ends it when the time is over."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._end = time.thread_time() + _SECONDS
        self.cut = False
        self.parsing = True

    def __call__(self, offset: int, _point: object) -> bytes:
        if self.parsing and (self.cut or time.thread_time() > self._end):
            self.cut = True
            return b""
        return self._text[offset : offset + _PIECE]


def parse(language: Language, text: bytes) -> ParsedText:
    known = parser(language.module, language.function)
    if len(text) <= _SMALL:
        return ParsedText(known.parse(text).root_node)
    from tree_sitter import Parser

    assert known.language is not None
    pieces = _Pieces(text)
    # A parser of its own: other threads use the known one meanwhile.
    root = Parser(known.language).parse(pieces).root_node
    pieces.parsing = False  # nodes read their texts later
    return ParsedText(root, pieces.cut)
