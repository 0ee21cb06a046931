"""References to a parameter: `f(name=…)`, and other calls that hand a keyword on to the function."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tools.code.mentions import STRING_NODES, scope_at
from tools.code.scopes import Binding, BindingRef, ClassKey, FileScopes, Place, Scope, lookup
from tools.code.source import SourceText, text_of
from tools.code.symbols import Certainty, ReferenceFinder, text_place

if TYPE_CHECKING:
    from tree_sitter import Node

#: They pass their keywords to the function that they are given.
_HANDING_ON = frozenset({"partial", "partialmethod", "to_thread", "submit"})
#: How far around a keyword to look for the call that is given the function: `Thread(target=f, kwargs=dict(name=1))`.
_LEVELS = 6

_KEYWORDS = re.compile(r"(?:kwargs|kw|options|opts|params|arguments)$", re.IGNORECASE)
_TEST_FILE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$")
_SIGNATURES = re.compile(
    rb"\b(?:signature|getfullargspec|getcallargs|get_type_hints|get_annotations)\(|\bco_varnames\b|\b__annotations__\b"
)


@dataclass(eq=False)
class KeywordFinder(ReferenceFinder):
    """Find `f(name=…)` for a parameter `name` of f."""

    #: Whether each definition of the function has the parameter.
    _everywhere: bool = field(default=True, init=False)

    def find(self) -> None:
        symbol = self._symbol
        self._note_spread()
        function = symbol.bindings[0].scope.owner
        self._add_definitions(function)
        if symbol.owner is not None and symbol.method is not None:
            self._find_overrides(symbol.owner, symbol.method)
        for path, file in self._files.items():
            for keyword in file.keywords:
                if keyword.name != symbol.name or file.source.family != "python":
                    continue
                verdict = self._calls(keyword.callee, keyword.scope, file, function)
                if verdict is None:
                    verdict = self._is_given(keyword.callee, keyword.scope, file, function)
                if verdict is None and self._is_open(keyword.callee, keyword.scope, file):
                    verdict = "likely"
                if verdict == "certain":
                    self._found.add(path, keyword.place)
                elif verdict == "likely":
                    self._found.add_likely(path, keyword.place)
            if file.source.family == "python":
                self._search_strings(path, file, function)
                self._note_lookups(path, file)

    def _add_definitions(self, function: Binding | None) -> None:
        """Rename the parameter in each definition of its function: overloads, and those under a condition."""
        file, symbol = self._project.files[self._symbol.path], self._symbol
        every = [each for each in file.bindings if each.kind == "parameter" and each.scope.owner is function]
        same = [each for each in every if each.name == symbol.name]
        self._everywhere = function is None or len(same) == len({each.scope for each in every})
        for binding in same if function is not None else ():
            if binding not in symbol.bindings:
                self._found.bindings.append((symbol.path, binding))
                for place in binding.places:
                    self._found.add(symbol.path, place)

    def _is_open(self, callee: "Node", scope: Scope, file: FileScopes) -> bool:
        """Whether only a run knows what is called: a variable, a parameter, an attribute that holds a function."""
        if callee.type == "identifier":
            binding = lookup(text_of(callee), scope)
            kinds = ("variable", "parameter")
            return binding is not None and binding.kind in kinds and self._classes.of(callee, scope, file) is None
        if callee.type != "attribute":
            return callee.type != "call" or text_of(callee.child_by_field_name("function")) != "super"
        name = text_of(callee.child_by_field_name("attribute"))
        if self._project.expression_meaning(callee, scope, file) is not None:
            return False
        evidence = self._classes.of(callee.child_by_field_name("object"), scope, file)
        if evidence is not None and not isinstance(evidence, ClassKey):
            return False
        owners = set(self._classes.ancestors(evidence)) if isinstance(evidence, ClassKey) else None
        return any(
            name in body.members and name not in body.methods
            for path, each in self._files.items()
            for body in each.classes
            if owners is None or ClassKey(path, body.binding) in owners
        )

    def _is_given(self, node: "Node", scope: Scope, file: FileScopes, function: Binding | None) -> Certainty | None:
        """Whether a call around a keyword is given the function, and surely passes the keyword on."""
        call = node.parent
        for level in range(_LEVELS):
            if call is None or call.type.endswith("statement"):
                break
            arguments = call.child_by_field_name("arguments") if call.type == "call" else None
            for each in arguments.named_children if arguments is not None else ():
                given = each.child_by_field_name("value") if each.type == "keyword_argument" else each
                if given is not None and (verdict := self._calls(given, scope, file, function)) is not None:
                    word = text_of(call.child_by_field_name("function")).rpartition(".")[2]
                    return verdict if level == 0 and word in _HANDING_ON else "likely"
            call = call.parent
        return None

    def _search_strings(self, path: str, file: FileScopes, function: Binding | None) -> None:
        """Add the keys of `Thread(target=f, kwargs={"name": 1})`, and of what is called keywords."""
        text = file.source.text
        for match in re.finditer(rb"[\"'](" + re.escape(self._symbol.name.encode()) + rb")[\"']\s*:", text):
            node = file.source.root.descendant_for_byte_range(*match.span(1))
            if node is None or node.type not in STRING_NODES:
                continue
            given = self._is_given(node, scope_at(file, match.start(1)), file, function)
            if given is not None or _is_in_keywords(node):
                self._found.add_likely(path, text_place(text, *match.span(1)), "text")

    def _note_lookups(self, path: str, file: FileScopes) -> None:
        """Add the lines that may use the parameter by its name, in a way that can't be followed."""
        risks, symbol = self._found.risks, self._symbol
        word = rb"(?<!\w)" + re.escape(symbol.name.encode()) + rb"(?!\w)"
        if path == symbol.path:
            node = symbol.bindings[0].scope.node
            named = text_of(node.child_by_field_name("name"))
            around = node.parent if node.parent is not None and node.parent.type == "decorated_definition" else node
            marks = [each for each in around.children if each.type == "decorator"]
            for each in marks:
                if re.search(word, each.text or b""):
                    risks.append(f"{path}:{each.start_point[0] + 1} holds its name, in a decorator.")
            tested = _TEST_FILE.search(path) and named.startswith("test") and symbol.name != "self"
            if tested or any("fixture" in text_of(each) for each in marks):
                risks.append(f"{path}:{node.start_point[0] + 1} asks pytest for a fixture of this name.")
        if _SIGNATURES.search(file.source.text):
            for match in re.finditer(rb"[\"']" + word + rb"[\"']", file.source.text):
                line = file.source.text.count(b"\n", 0, match.start()) + 1
                risks.append(f"{path}:{line} holds its name, and the file looks at parameters by name.")

    def _note_spread(self) -> None:
        """Add the calls that pass keywords which only a run knows: `f(**options)`."""
        names = self._called_names()
        for path, file in self._files.items() if names else ():
            for callee in _spreading(file.source):
                if (name := text_of(callee).rpartition(".")[2]) in names:
                    line = callee.end_point[0] + 1
                    self._found.risks.append(f"{path}:{line} passes {name} keywords that only a run knows.")

    def _called_names(self) -> set[str]:
        """The names by which code calls the function: that of a constructor is its class."""
        names = set(self._symbol.containers[-1:])
        if self._symbol.method == "__init__":
            bodies = [(path, body) for path, file in self._files.items() for body in file.classes]
            names |= {body.binding.name for path, body in bodies if self._constructs(ClassKey(path, body.binding))}
        return names

    def _calls(self, callee: "Node", scope: Scope, file: FileScopes, function: Binding | None) -> Certainty | None:
        symbol = self._symbol
        if symbol.owner is not None and callee.type != "identifier":
            return self._calls_method(callee, scope, file)
        if function is None:
            # A lambda, or a function declared global or nonlocal.
            name = symbol.bindings[0].scope.node.child_by_field_name("name")
            return "likely" if name is not None and text_of(callee) == text_of(name) else None
        meaning = self._project.expression_meaning(callee, scope, file)
        if not isinstance(meaning, BindingRef) or meaning.binding is not function:
            return self._calls_method(callee, scope, file) if symbol.owner is not None else None
        return "certain" if self._everywhere or not function.opaque else "likely"

    def _calls_method(self, callee: "Node", scope: Scope, file: FileScopes) -> Certainty | None:
        owner, method = self._symbol.owner, self._symbol.method
        if method == "__init__":
            meaning = self._project.expression_meaning(callee, scope, file)
            if isinstance(meaning, BindingRef) and meaning.binding.kind == "class":
                return "certain" if self._constructs(ClassKey(*meaning)) else None
        if text_of(callee.child_by_field_name("attribute")) != method:
            return None
        evidence = self._classes.of(callee.child_by_field_name("object"), scope, file)
        if isinstance(evidence, ClassKey) and owner is not None:
            if owner in self._classes.ancestors(evidence):
                return "certain"
            return "likely" if self._is_substitute(evidence, owner) else None
        return "likely" if evidence is None else None

    def _is_substitute(self, key: ClassKey, owner: ClassKey) -> bool:
        """Whether one class may stand in for the other, by inheritance or as a protocol."""
        if key in self._classes.ancestors(owner) or owner in self._classes.ancestors(key):
            return True
        bodies = [self._classes.body(each) for each in (key, owner)]
        return any("Protocol" in text_of(base) for body in bodies if body is not None for base in body.bases)

    def _find_overrides(self, owner: ClassKey, method: str) -> None:
        """Add the same parameter of overriding methods and protocols as likely."""
        word = re.compile(rb"(?<!\w)" + re.escape(self._symbol.name.encode()) + rb"\b")
        for path, file in self._files.items():
            for body in file.classes:
                key, node = ClassKey(path, body.binding), body.methods.get(method)
                if key == owner or node is None or not self._is_substitute(key, owner):
                    continue
                parameters = node.child_by_field_name("parameters")
                if parameters is not None and word.search(parameters.text or b""):
                    line = node.start_point[0] + 1
                    self._found.add_likely(path, Place(node.start_byte, node.start_byte, line))

    def _constructs(self, key: ClassKey) -> bool:
        for each in self._classes.ancestors(key):
            body = self._classes.body(each)
            if body is not None and "__init__" in body.methods:
                return each == self._symbol.owner
        return False


def _is_in_keywords(node: "Node") -> bool:
    """Whether a string is a key of a dictionary that is passed or assigned as keywords: `signer_kwargs={"name": 1}`."""
    pair = node.parent.parent if node.parent is not None else None
    around = pair.parent.parent if pair is not None and pair.type == "pair" and pair.parent is not None else None
    while around is not None and around.type in ("list", "tuple", "parenthesized_expression"):
        around = around.parent
    named = around.child_by_field_name("name") or around.child_by_field_name("left") if around is not None else None
    return named is not None and _KEYWORDS.search(text_of(named)) is not None


def _spreading(source: SourceText) -> Iterator["Node"]:
    """What is called with `**` among its arguments, also in functions that are not analyzed."""
    for match in re.finditer(rb"\*\*", source.text) if source.family == "python" else ():
        node = source.root.descendant_for_byte_range(*match.span())
        splat = node.parent if node is not None else None
        call = splat.parent.parent if splat is not None and splat.parent is not None else None
        if call is None or splat is None or splat.type != "dictionary_splat" or call.type != "call":
            continue
        if (callee := call.child_by_field_name("function")) is not None:
            yield callee
