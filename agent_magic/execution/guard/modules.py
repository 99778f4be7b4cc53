"""Modules: which ones the code imports, and what it reaches through them.

It must not import any: what a module holds is looked up in those that are loaded already.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

from agent_magic.core.values import Value
from agent_magic.execution.guard.binding import MISSING, Scope
from agent_magic.execution.guard.imports import is_dangerous
from agent_magic.execution.guard.names import is_private_of_module
from agent_magic.execution.guard.rules import Fault, Rules

# Found as attributes of modules that are not loaded yet, where a look is not possible.
_KNOWN_WORDS = """
_thread builtins ctypes gc importlib inspect multiprocessing os pickle shutil signal socket subprocess sys
"""
_KNOWN_MODULES = frozenset(_KNOWN_WORDS.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """`root.a.b.c`: the attributes that are reached through a name."""

    node: ast.AST
    root: str
    attributes: list[str]
    scope: Scope
    is_load: bool
    """Else the last one is assigned or deleted."""


class Modules:
    """The modules that one block of code imports and uses."""

    def __init__(self, rules: Rules, faults: list[Fault]) -> None:
        self._rules = rules
        self._faults = faults
        self._names: dict[str, str] = {}
        """Names that the code binds to modules."""
        self._chains: list[Chain] = []

    def add(self, chain: Chain) -> None:
        """A chain to be judged at the end, when all imports of the code are known."""
        self._chains.append(chain)

    def alias(self, name: str, source: str) -> None:
        """`name = source`: the same module, if `source` is one."""
        module = self._find(source)
        if module is not None:
            self._names[name] = module

    def on_import(self, node: ast.Import) -> Iterator[tuple[str, Value]]:
        """The names that `import a.b as c` binds, with what they will mean, or MISSING."""
        for alias in node.names:
            module, root = alias.name, alias.name.partition(".")[0]
            bound = module if alias.asname else root
            # `import os.path` binds `os`, and all that is in it.
            if module not in self._rules.imports or (bound == "os" and "os" not in self._rules.imports):
                self._refuse_module(node, bound if bound == "os" else module)
            elif self._is_private(module):
                self._refuse_private(node, module, module.rpartition(".")[2])
            else:
                self._names[alias.asname or root] = bound
                yield alias.asname or root, sys.modules.get(bound, MISSING)

    def on_import_from(self, node: ast.ImportFrom) -> Iterator[tuple[str, Value]]:
        """The names that `from a import b as c` binds, with what they will mean, or MISSING."""
        module = node.module or ""
        if node.level or not module:
            self._refuse(
                node, "Relative imports have no package here.", "Write the whole name of the module."
            )
            return
        loaded = sys.modules.get(module)
        for alias in node.names:
            whole = f"{module}.{alias.name}"
            if alias.name == "*" and module in self._rules.imports:
                self._refuse(
                    node,
                    "`import *` binds names that nobody can check.",
                    f"Import the module, or the names you need: `from {module} import name`.",
                )
                continue
            if whole not in self._rules.imports and not self._rules.imports.has_name(module, alias.name):
                self._refuse_module(node, module)
                continue
            if module != "__future__" and (self._is_private(module) or is_private_of_module(alias.name)):
                self._refuse_private(node, module, alias.name)
                continue
            value = MISSING if loaded is None else vars(loaded).get(alias.name, MISSING)
            if self._refuse_inner(node, module, alias.name, value, is_loaded=loaded is not None):
                continue
            name = alias.asname or alias.name
            if isinstance(value, ModuleType) or whole in sys.modules:
                self._names[name] = value.__name__ if isinstance(value, ModuleType) else whole
            yield name, value

    def judge(self) -> None:
        """Refuses what the chains reach for and may not."""
        for chain in self._chains:
            module = self._find(chain.root)
            if module is not None and not chain.scope.is_local_value(chain.root, self._names):
                self._judge_chain(chain, module)

    def judge_use(self, node: ast.Name, module: ModuleType) -> None:
        """Refuses a module of the namespace that is not authorized, by whatever name it stands there."""
        name = module.__name__
        if name not in self._rules.imports and is_dangerous(name) and name != "urllib":
            self._refuse_module(node, name)

    def _find(self, name: str) -> str | None:
        module = self._names.get(name)
        if module is None:
            value = self._rules.namespace.get(name)
            if isinstance(value, ModuleType):
                return value.__name__
        return module

    def _judge_chain(self, chain: Chain, module: str) -> None:
        last = len(chain.attributes) - 1
        for index, name in enumerate(chain.attributes):
            if is_private_of_module(name) or name == "__dict__":
                self._refuse_private(chain.node, module, name)
                return
            if index == last and not chain.is_load:
                self._refuse(
                    chain.node,
                    f"This would change the module {module!r} for the whole notebook.",
                    "Make a function or variable of your own instead.",
                )
                return
            loaded = sys.modules.get(module)
            value = MISSING if loaded is None else vars(loaded).get(name, MISSING)
            if value is MISSING:
                value = sys.modules.get(f"{module}.{name}", MISSING)
            if self._refuse_inner(chain.node, module, name, value, is_loaded=loaded is not None):
                return
            if not isinstance(value, ModuleType):
                return
            module = value.__name__

    def _refuse_inner(self, node: ast.AST, module: str, name: str, value: Value, *, is_loaded: bool) -> bool:
        """Refuses a module that is reached through another one, if it is not authorized by itself."""
        if isinstance(value, ModuleType):
            inner = value.__name__
            # `os.path` is `posixpath`: an authorized name for it is as good.
            if inner in self._rules.imports or f"{module}.{name}" in (inner, "os.path"):
                is_authorized = inner in self._rules.imports or f"{module}.{name}" in self._rules.imports
            else:
                is_authorized = inner.partition(".")[0] == module.partition(".")[0] and not is_dangerous(
                    inner
                )
        else:
            inner = name
            is_authorized = is_loaded or name not in _KNOWN_MODULES or name in self._rules.imports
        if not is_authorized:
            self._refuse_module(node, inner)
        return not is_authorized

    def _is_private(self, module: str) -> bool:
        return module != "__future__" and any(part.startswith("_") for part in module.split("."))

    def _refuse_module(self, node: ast.AST, module: str) -> None:
        self._refuse(
            node, f"The module {module!r} is not authorized for code.", self._rules.imports.describe(module)
        )

    def _refuse_private(self, node: ast.AST, module: str, name: str) -> None:
        self._refuse(
            node,
            f"{name!r} is private to the module {module!r}.",
            "Use what the module documents, or another module.",
        )

    def _refuse(self, node: ast.AST, what: str, instead: str) -> None:
        self._faults.append(Fault(node=node, what=what, instead=instead))
