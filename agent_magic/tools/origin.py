"""Where a callable comes from: the function below its wrappings, and the installed library it belongs to.

It must not read hints or docstrings, nor import anything to find out.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from pathlib import PurePath
from typing import cast

from agent_magic.core.values import Value

_INSTALLED = frozenset({"site-packages", "dist-packages"})


def target_of(function: Value) -> Value:
    """The function that holds a callable's hints and docstring, below partials, methods and decorators."""
    while True:
        if isinstance(function, functools.partial):
            function = cast("functools.partial[Value]", function).func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif getattr(function, "__wrapped__", None) is not None:
            function = inspect.unwrap(function)
        elif isinstance(function, type):
            return function.__init__
        elif isinstance(
            function, types.FunctionType | types.BuiltinFunctionType | types.MethodDescriptorType
        ):
            return function
        else:
            call = inspect.getattr_static(type(function), "__call__", None)
            return call if isinstance(call, types.FunctionType) else function


def library_of(function: Value) -> str:
    """The library that a callable was written in, such as `numpy`; empty if it is the person's own.

    A module that lies beside the notebook, or is installed for editing, is the person's own.
    """
    while isinstance(function, functools.partial | types.MethodType):
        function = (
            function.__func__
            if isinstance(function, types.MethodType)
            else cast("functools.partial[Value]", function).func
        )
    module = _module_of(function)
    top = module.partition(".")[0]
    if top == "__main__":  # the notebook; the file of that name is what started Python
        return ""
    if top == "builtins":
        return "Python"
    is_installed = top in sys.stdlib_module_names or any(map(_is_installed, (module, top)))
    return top.lstrip("_") if is_installed else ""


def _module_of(function: Value) -> str:
    module = getattr(function, "__module__", None)
    if module is None and not isinstance(function, types.FunctionType):
        # Methods of built-in types know their class only.
        cls = getattr(function, "__objclass__", None) or type(getattr(function, "__self__", None))
        module = getattr(cls, "__module__", None)
    return module if isinstance(module, str) else ""


def _is_installed(module: str) -> bool:
    file = getattr(sys.modules.get(module), "__file__", None)
    return isinstance(file, str) and not _INSTALLED.isdisjoint(PurePath(file).parts)
