"""The walk through a syntax tree: a node goes to whoever is there for its kind, or else its children are walked."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tools.code.scopes import FileScopes, Scope, Use
from tools.code.tree import Source

if TYPE_CHECKING:
    from tree_sitter import Node


class Walk:
    def __init__(self, source: Source) -> None:
        self.module = Scope("module", source.root, None)
        self.file = FileScopes(source, self.module, [self.module])
        self._uses: list[Use] = []
        self._handlers: dict[str, Callable[[Any, Scope], None]] = {}

    def block(self, node: "Node", scope: Scope) -> None:
        handlers = self._handlers
        for child in node.named_children:
            handler = handlers.get(child.type)
            if handler is not None:
                handler(child, scope)
            elif child.child_count:
                self.block(child, scope)

    def one(self, node: "Node | None", scope: Scope) -> None:
        if node is None:
            return
        handler = self._handlers.get(node.type)
        if handler is not None:
            handler(node, scope)
        elif node.child_count:
            self.block(node, scope)

    def _nothing(self, node: "Node", scope: Scope) -> None:
        pass
