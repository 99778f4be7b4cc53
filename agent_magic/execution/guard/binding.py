"""Binding: which scope a name is bound in, and whether the rules allow it there.

It must not walk the tree: it is told of each place that binds a name.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Final, Literal

from agent_magic.core.values import Value
from agent_magic.execution.guard.names import REFUSED_NAMES, is_builtin, is_dunder
from agent_magic.execution.guard.rules import Fault, Rules

MISSING: Final = object()
"""No value is known without running anything."""

_Kind = Literal["module", "class", "function", "comprehension"]


class Scope:
    """Where names are bound: the module, a class, a function or a comprehension."""

    __slots__ = ("bound", "declared", "kind", "parent")

    def __init__(self, kind: _Kind, parent: Scope | None = None) -> None:
        self.kind = kind
        self.parent = parent
        self.bound: set[str] = set()
        self.declared: set[str] = set()
        """Names that a `global` statement gives to the module."""

    def is_local(self, name: str) -> bool:
        """Whether the name means something that the code itself binds inside a function or class."""
        scope: Scope | None = self
        while scope is not None and scope.kind != "module":
            if name in scope.declared:
                return False
            if name in scope.bound and (scope is self or scope.kind != "class"):
                return True
            scope = scope.parent
        return False

    def is_local_value(self, name: str, imported: Collection[str]) -> bool:
        """Whether the name is local and not one that the code imports a module under."""
        return name not in imported and self.is_local(name)

    def for_walrus(self) -> Scope:
        """Where `:=` binds: a comprehension gives it to what stands round it."""
        scope = self
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        return scope


class Binding:
    """The bindings of one block of code."""

    def __init__(self, rules: Rules, faults: list[Fault]) -> None:
        self._rules = rules
        self._faults = faults
        self.top = Scope("module")
        self.anywhere: set[str] = set()
        self._answers: list[tuple[ast.stmt, ast.AST]] = []

    def assign(self, target: ast.Name, statement: ast.stmt, scope: Scope) -> None:
        """A plain assignment to a name; the one form in which the final answer's name can be dropped."""
        if target.id == self._rules.final_name and scope is self.top:
            self._answers.append((statement, target))
        else:
            self.bind(target.id, target, scope, "assign")

    def bind_import(self, name: str, node: ast.stmt, scope: Scope, value: Value) -> None:
        """An import: binding a name to the very object that it has is no write."""
        users = self._rules.users
        if name in users and value is not MISSING and users[name] is value:
            self.anywhere.add(name)
        else:
            self.bind(name, node, scope, "import")

    def bind(self, name: str, node: ast.AST, scope: Scope, how: str) -> None:
        """A name that is bound.

        Args:
            how: `assign`, `define`, `import`, `delete`, `parameter`; `loop` for the targets of `for`, `with` and
                `except`, after which a name of the person's is put back rather than refused.
        """
        self.anywhere.add(name)
        if name in scope.declared:
            scope = self.top
        scope.bound.add(name)
        if scope is self.top:
            self._judge(name, node, how)
        elif name == self._rules.final_name and scope.kind != "class":
            self._refuse_answer(node)

    def judge_answer(self, *, has_call: bool) -> tuple[ast.stmt, ...]:
        """The assignments to the final answer's name that are to be dropped; refuses them if it is never called."""
        if not has_call:
            for _, target in self._answers:
                self._refuse_answer(target)
            return ()
        return tuple(statement for statement, _ in self._answers)

    def _judge(self, name: str, node: ast.AST, how: str) -> None:
        rules = self._rules
        if name == rules.final_name:
            self._refuse_answer(node)
        elif name in rules.tool_names and how == "delete":
            self._refuse(
                node, f"`{name}` is a tool and cannot be deleted.", "Leave it; only delete what you made."
            )
        elif name in rules.tool_names:
            self._refuse(
                node,
                f"`{name}` is a tool and cannot be rebound.",
                f"Use another name, such as `{self._free(name)}`.",
            )
        elif name in rules.users:
            if how == "delete":
                self._refuse(
                    node,
                    f"`{name}` is the person's own, and code may not delete it.",
                    "Leave it; only delete what you made.",
                )
            elif how != "loop":
                self._refuse(
                    node,
                    f"`{name}` is the person's own, and code may not rebind it.",
                    f"Bind a new name, such as `{self._free(name)}`.",
                )
        elif is_dunder(name) and name not in ("__all__", "__version__", "__author__"):
            self._refuse(node, f"`{name}` belongs to the interpreter.", "Use an ordinary name.")
        elif how != "delete" and (is_builtin(name) or name in REFUSED_NAMES):
            self._refuse(
                node,
                f"`{name}` is Python's own name, and binding it would break the notebook's other cells.",
                f"Use another name, such as `{self._free(name)}`.",
            )

    def _free(self, name: str) -> str:
        rules = self._rules
        taken = (rules.users, rules.tool_names, rules.namespace, self.anywhere)
        number = 2
        while any(f"{name}_{number}" in names for names in taken):
            number += 1
        return f"{name}_{number}"

    def _refuse_answer(self, node: ast.AST) -> None:
        name = self._rules.final_name
        self._refuse(
            node,
            f"`{name}` is the function that gives the answer and cannot be bound.",
            f"Call it instead: `{name}(value)`.",
        )

    def _refuse(self, node: ast.AST, what: str, instead: str) -> None:
        self._faults.append(Fault(node=node, what=what, instead=instead))
