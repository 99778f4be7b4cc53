"""Reaching: which names, attributes and sizes the code uses, and whether the rules allow them.

It must not walk the tree: it is told of each place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import ModuleType

from agent_magic.execution.guard.binding import Scope
from agent_magic.execution.guard.modules import Chain, Modules
from agent_magic.execution.guard.names import (
    REFUSED_NAMES,
    attributes_in_format,
    why_not_attribute,
    why_not_name,
)
from agent_magic.execution.guard.rules import Fault, Rules
from agent_magic.execution.guard.sizes import why_too_large

_GETTERS = frozenset(("getattr", "setattr", "delattr"))
_NAMED_GETTERS = frozenset(("attrgetter", "methodcaller"))
_SPECIAL_GETTERS = frozenset(("__getattribute__", "__getattr__", "__setattr__", "__delattr__"))
_FORMATS = frozenset(("format", "format_map", "vformat"))
_WALK_ON = "Reach what you need by its public name."


class Reaching:
    """What one block of code uses."""

    def __init__(self, rules: Rules, faults: list[Fault], modules: Modules) -> None:
        self._rules = rules
        self._faults = faults
        self._modules = modules
        self._watched: list[tuple[ast.Name, Scope]] = []
        self.answer_line = 0
        """Where the final answer is called first; 0 if it is not."""

    def judge(self) -> None:
        """Refuses the names that were used and mean nothing of the code's own."""
        for name, scope in self._watched:
            if not scope.is_local(name.id):
                self._judge_name(name)

    def on_name(self, node: ast.Name, scope: Scope) -> None:
        """A name that is used: judged at the end, when all that the code binds is known."""
        name = node.id
        if name in self._rules.tool_names:
            return
        if name in REFUSED_NAMES or name.startswith("__"):
            self._watched.append((node, scope))
        else:
            value = self._rules.namespace.get(name)
            if isinstance(value, ModuleType) and value.__name__ not in self._rules.imports:
                self._watched.append((node, scope))

    def _judge_name(self, node: ast.Name) -> None:
        name = node.id
        value = self._rules.namespace.get(name)
        if isinstance(value, ModuleType):
            self._modules.judge_use(node, value)
        elif (instead := why_not_name(name)) and not self._is_persons(name, value):
            self._add(node, f"`{name}` is not for code.", instead)

    def _is_persons(self, name: str, value: object) -> bool:
        """Whether the notebook has a value of its own under a name that only Python's function is refused for."""
        is_data = value is not None and not callable(value)
        return is_data and name not in ("get_ipython", "exit", "quit") and not name.startswith("__")

    def on_attribute(self, node: ast.Attribute, scope: Scope) -> ast.expr:
        """What stands before all the dots, to be looked at next."""
        attributes: list[str] = []
        at: ast.expr = node
        while isinstance(at, ast.Attribute):
            attributes.append(at.attr)
            at = at.value
        attributes.reverse()
        for name in attributes:
            if self._judge_attribute(node, name):
                break  # what is reached through it is refused with it
        if isinstance(at, ast.Name):
            self._modules.add(
                Chain(
                    node=node,
                    root=at.id,
                    attributes=attributes,
                    scope=scope,
                    is_load=isinstance(node.ctx, ast.Load),
                )
            )
            self._refuse_on_tool(node, at, attributes)
        return at

    def _refuse_on_tool(self, node: ast.Attribute, root: ast.Name, attributes: list[str]) -> None:
        is_tool = root.id in self._rules.tool_names or root.id == self._rules.final_name
        if is_tool and len(attributes) == 1 and not isinstance(node.ctx, ast.Load):
            self._add(node, f"`{root.id}` is a tool, and code may not change it.", "Call it.")

    def _judge_attribute(self, node: ast.AST, name: str) -> bool:
        why = why_not_attribute(name)
        if why:
            self._add(node, f"`{name}` is not for code: {why}.", _WALK_ON)
        return why is not None

    def on_call(self, node: ast.Call, scope: Scope) -> None:
        """A call: of the final answer, of what reaches attributes by their names, of what makes large values."""
        function = node.func
        if isinstance(function, ast.Name):
            name = function.id
            if name == self._rules.final_name and not self.answer_line:
                self.answer_line = node.lineno
            if name in _GETTERS:
                self._on_getter(node, scope)
            elif name in _NAMED_GETTERS:
                self._judge_paths(node)
            elif (why := why_too_large(node)) is not None:
                self._refuse_size(node, why)
        elif isinstance(function, ast.Attribute):
            name = function.attr
            if name in _FORMATS:
                self._on_format(node, function)
            elif name in _NAMED_GETTERS:
                self._judge_paths(node)
            elif name in _SPECIAL_GETTERS:
                self._judge_texts(node)

    def is_too_large(self, node: ast.BinOp) -> bool:
        """Whether an operation on constants is refused for its size."""
        why = why_too_large(node) if isinstance(node.op, ast.Mult | ast.Pow | ast.LShift) else None
        if why:
            self._refuse_size(node, why)
        return why is not None

    def _refuse_size(self, node: ast.AST, why: str) -> None:
        self._add(node, f"This would make {why}.", "Work on parts, or use a smaller number.")

    def _on_getter(self, node: ast.Call, scope: Scope) -> None:
        match node:
            case ast.Call(func=ast.Name(id=function), args=[owner, ast.Constant(value=str(name)), *_]):
                self._judge_attribute(node, name)
                if isinstance(owner, ast.Name):
                    is_load = function == "getattr"
                    self._modules.add(
                        Chain(node=node, root=owner.id, attributes=[name], scope=scope, is_load=is_load)
                    )
            case _:
                pass

    def _judge_paths(self, node: ast.Call) -> None:
        for text in _texts(node):
            for name in text.split("."):
                if self._judge_attribute(node, name):
                    break

    def _judge_texts(self, node: ast.Call) -> None:
        for text in _texts(node):
            self._judge_attribute(node, text)

    def _on_format(self, node: ast.Call, function: ast.Attribute) -> None:
        templates = list(_texts(node))
        match function.value:
            case ast.Constant(value=str(text)):
                templates.append(text)
            case _:
                pass
        for template in templates:
            for name in attributes_in_format(template):
                self._judge_attribute(node, name)

    def _add(self, node: ast.AST, what: str, instead: str) -> None:
        self._faults.append(Fault(node=node, what=what, instead=instead))


def _texts(node: ast.Call) -> Iterator[str]:
    for argument in (*node.args, *[keyword.value for keyword in node.keywords]):
        match argument:
            case ast.Constant(value=str(text)):
                yield text
            case _:
                pass
