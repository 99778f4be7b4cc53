"""The walk over a syntax tree that finds what the rules refuse, in one pass.

It must not judge what it finds: `binding`, `modules` and `reaching` do.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agent_magic.execution.guard.binding import Binding, Scope
from agent_magic.execution.guard.modules import Modules
from agent_magic.execution.guard.reaching import Reaching
from agent_magic.execution.guard.rules import Fault, Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What the walk found."""

    faults: list[Fault]
    binds: frozenset[str]
    """Names of the namespace that the code may bind."""
    bound_anywhere: frozenset[str]
    """Names that it binds in any scope."""
    dropped: tuple[ast.stmt, ...]
    """Assignments to the name of the final answer beside a call of it: not to be made."""
    answer_line: int
    """Where the final answer is called first; 0 if it is not."""


def check(tree: ast.Module, rules: Rules) -> Checked:
    """What is refused in the code, what it binds, and which assignments are to be dropped."""
    walk = _Walk(rules)
    walk.run(tree)
    return walk.checked()


class _Walk:
    """Goes through a tree with a stack of its own, so that no depth of it is too deep."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self.faults: list[Fault] = []
        self._modules = Modules(rules, self.faults)
        self._reaching = Reaching(rules, self.faults, self._modules)
        self._binding = Binding(rules, self.faults)
        self._top = self._binding.top
        self._stack: list[tuple[ast.AST, Scope]] = []
        self._handlers = _handlers()

    def run(self, tree: ast.Module) -> None:
        stack, handlers = self._stack, self._handlers
        self._push_all(tree.body, self._top)
        while stack:
            node, scope = stack.pop()
            handler = handlers.get(node.__class__)
            if handler is None:
                self._push_children(node, scope)
            else:
                handler(self, node, scope)

    def checked(self) -> Checked:
        self._reaching.judge()
        self._modules.judge()
        answer_line = self._reaching.answer_line
        dropped = self._binding.judge_answer(has_call=answer_line > 0)
        return Checked(
            faults=self.faults,
            binds=frozenset(self._top.bound),
            bound_anywhere=frozenset(self._binding.anywhere),
            dropped=dropped,
            answer_line=answer_line,
        )

    # Going on

    def _push(self, node: ast.AST | None, scope: Scope) -> None:
        if node is not None:
            self._stack.append((node, scope))

    def _push_all(self, nodes: list[Any], scope: Scope) -> None:
        self._stack.extend([(node, scope) for node in reversed(nodes) if node is not None])

    def _push_children(self, node: ast.AST, scope: Scope) -> None:
        stack = self._stack
        for name in _child_fields(node.__class__):
            value: Any = getattr(node, name, None)
            if value.__class__ is list:
                stack.extend([(item, scope) for item in reversed(value) if isinstance(item, ast.AST)])
            elif isinstance(value, ast.AST):
                stack.append((value, scope))

    # What the code uses

    def on_name(self, node: ast.Name, scope: Scope) -> None:
        self._reaching.on_name(node, scope)

    def on_attribute(self, node: ast.Attribute, scope: Scope) -> None:
        self._push(self._reaching.on_attribute(node, scope), scope)

    def on_call(self, node: ast.Call, scope: Scope) -> None:
        self._reaching.on_call(node, scope)
        self._push_children(node, scope)

    def on_operation(self, node: ast.BinOp, scope: Scope) -> None:
        if not self._reaching.is_too_large(node):  # its parts would only say it again
            self._push(node.right, scope)
            self._push(node.left, scope)

    # Imports

    def on_import(self, node: ast.Import, scope: Scope) -> None:
        for alias, value in self._modules.on_import(node):
            self._binding.bind_import(alias, node, scope, value)

    def on_import_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        for alias, value in self._modules.on_import_from(node):
            self._binding.bind_import(alias, node, scope, value)

    # What binds

    def on_assign(self, node: ast.Assign, scope: Scope) -> None:
        source = node.value.id if isinstance(node.value, ast.Name) else None
        for target in node.targets:
            if isinstance(target, ast.Name) and target.id != source:
                self._binding.assign(target, node, scope)
            elif not isinstance(target, ast.Name):
                self._on_target(target, scope, "assign")
        self._push(node.value, scope)
        if source and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self._modules.alias(node.targets[0].id, source)

    def on_annotated(self, node: ast.AnnAssign, scope: Scope) -> None:
        if isinstance(node.target, ast.Name):
            if node.value is not None:
                self._binding.assign(node.target, node, scope)
            elif scope is not self._top:
                scope.bound.add(node.target.id)
        else:
            self._push(node.target, scope)
        self._push(node.annotation, scope)
        self._push(node.value, scope)

    def on_augmented(self, node: ast.AugAssign, scope: Scope) -> None:
        self._on_target(node.target, scope, "assign")
        self._push(node.value, scope)

    def on_for(self, node: ast.For | ast.AsyncFor, scope: Scope) -> None:
        self._push_all(node.orelse, scope)
        self._push_all(node.body, scope)
        self._push(node.iter, scope)
        self._on_target(node.target, scope, "loop")

    def on_with(self, node: ast.With | ast.AsyncWith, scope: Scope) -> None:
        self._push_all(node.body, scope)
        for item in reversed(node.items):
            if item.optional_vars is not None:
                self._on_target(item.optional_vars, scope, "loop")
            self._push(item.context_expr, scope)

    def on_handler(self, node: ast.ExceptHandler, scope: Scope) -> None:
        if node.name:
            self._binding.bind(node.name, node, scope, "loop")
        self._push_all(node.body, scope)
        self._push(node.type, scope)

    def on_delete(self, node: ast.Delete, scope: Scope) -> None:
        for target in node.targets:
            self._on_target(target, scope, "delete")

    def on_walrus(self, node: ast.NamedExpr, scope: Scope) -> None:
        self._binding.bind(node.target.id, node, scope.for_walrus(), "assign")
        self._push(node.value, scope)

    def on_capture(self, node: ast.MatchAs | ast.MatchStar | ast.MatchMapping, scope: Scope) -> None:
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        if name:
            self._binding.bind(name, node, scope, "assign")
        self._push_children(node, scope)

    def _on_target(self, target: ast.expr, scope: Scope, how: str) -> None:
        if isinstance(target, ast.Name):
            self._binding.bind(target.id, target, scope, how)
        elif isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._on_target(part, scope, how)
        elif isinstance(target, ast.Starred):
            self._on_target(target.value, scope, how)
        else:
            self._push(target, scope)

    # Scopes

    def on_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        self._binding.bind(node.name, node, scope, "define")
        inner = Scope("function", scope)
        self._push_all(node.body, inner)
        self._on_parameters(node.args, scope, inner)
        self._push_all([*node.decorator_list, node.returns], scope)

    def on_lambda(self, node: ast.Lambda, scope: Scope) -> None:
        inner = Scope("function", scope)
        self._push(node.body, inner)
        self._on_parameters(node.args, scope, inner)

    def _on_parameters(self, arguments: ast.arguments, scope: Scope, inner: Scope) -> None:
        for argument in (
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
            arguments.vararg,
            arguments.kwarg,
        ):
            if argument is not None:
                self._binding.bind(argument.arg, argument, inner, "parameter")
                self._push(argument.annotation, scope)
        self._push_all([*arguments.defaults, *arguments.kw_defaults], scope)

    def on_class(self, node: ast.ClassDef, scope: Scope) -> None:
        self._binding.bind(node.name, node, scope, "define")
        self._push_all(node.body, Scope("class", scope))
        self._push_all(
            [*node.decorator_list, *node.bases, *[keyword.value for keyword in node.keywords]], scope
        )

    def on_comprehension(self, node: ast.expr, scope: Scope) -> None:
        inner = Scope("comprehension", scope)
        self._push_children(node, inner)

    def on_comprehension_part(self, node: ast.comprehension, scope: Scope) -> None:
        self._on_target(node.target, scope, "loop")
        self._push_all(node.ifs, scope)
        self._push(node.iter, scope)

    def on_global(self, node: ast.Global, scope: Scope) -> None:
        scope.declared.update(node.names)

    def on_leaf(self, node: ast.AST, scope: Scope) -> None:
        """Nothing below it is to be looked at."""


_Handler = Callable[[_Walk, Any, Scope], None]
_HANDLERS: dict[type[ast.AST], _Handler] = {
    ast.Name: _Walk.on_name,
    ast.Attribute: _Walk.on_attribute,
    ast.Call: _Walk.on_call,
    ast.BinOp: _Walk.on_operation,
    ast.Import: _Walk.on_import,
    ast.ImportFrom: _Walk.on_import_from,
    ast.Assign: _Walk.on_assign,
    ast.AnnAssign: _Walk.on_annotated,
    ast.AugAssign: _Walk.on_augmented,
    ast.For: _Walk.on_for,
    ast.AsyncFor: _Walk.on_for,
    ast.With: _Walk.on_with,
    ast.AsyncWith: _Walk.on_with,
    ast.ExceptHandler: _Walk.on_handler,
    ast.Delete: _Walk.on_delete,
    ast.NamedExpr: _Walk.on_walrus,
    ast.MatchAs: _Walk.on_capture,
    ast.MatchStar: _Walk.on_capture,
    ast.MatchMapping: _Walk.on_capture,
    ast.FunctionDef: _Walk.on_function,
    ast.AsyncFunctionDef: _Walk.on_function,
    ast.Lambda: _Walk.on_lambda,
    ast.ClassDef: _Walk.on_class,
    ast.ListComp: _Walk.on_comprehension,
    ast.SetComp: _Walk.on_comprehension,
    ast.DictComp: _Walk.on_comprehension,
    ast.GeneratorExp: _Walk.on_comprehension,
    ast.comprehension: _Walk.on_comprehension_part,
    ast.Global: _Walk.on_global,
    ast.Constant: _Walk.on_leaf,
    ast.Pass: _Walk.on_leaf,
    ast.Break: _Walk.on_leaf,
    ast.Continue: _Walk.on_leaf,
    ast.Nonlocal: _Walk.on_leaf,
}


def _handlers() -> dict[type[ast.AST], _Handler]:
    return _HANDLERS


_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}
_NO_NODES = frozenset(
    ("ctx", "op", "ops", "id", "attr", "lineno", "type_comment", "conversion", "kind", "is_async")
)


def _child_fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a kind of node that may hold nodes, the last first."""
    fields = _FIELDS.get(kind)
    if fields is None:
        names = kind._fields
        fields = _FIELDS[kind] = tuple(name for name in reversed(names) if name not in _NO_NODES)
    return fields
