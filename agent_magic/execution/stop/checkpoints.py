"""Puts checks into code where it could swallow the end of its step: the sticky stop and `final_answer`.

It must not know what the check looks at (`STOP.ask` is set by the one who runs the code), and must not
put a check into a loop that has no `try` or `with` of its own.

The check is an attribute of a constant, and a call of one, so it needs no name in the code's namespace: a text stands in the
syntax tree, and `seal` puts `STOP` in its place once the code is compiled.
"""

from __future__ import annotations

import ast
import builtins
import uuid
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from types import CodeType

from agent_magic.core.values import Value

_SENTINEL = f"agent_magic.checkpoint.{uuid.uuid4().hex}"
# Handlers of these cannot catch what ends a step: a BaseException that is no Exception.
_HARMLESS = frozenset(
    name
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception) and not name.startswith("_")
)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Pass)


def _nothing() -> None:
    """No step runs."""


class Stop:
    """What the checks in compiled code call."""

    __slots__ = ("ask", "ask_late", "is_due")

    def __init__(self) -> None:
        self.is_due = False
        """The code of some step is to end; as long as it is not, nothing is called, which a loop would feel."""
        self.ask: Callable[[], None] = _nothing
        """Raises what ends the step, if the step of the calling thread has ended."""
        self.ask_late: Callable[[], None] = _nothing
        """Likewise, once there was time enough for what is to be cleaned up."""

    def check(self) -> None:
        """Raises if the step is over; returns at once if not, and outside any step."""
        self.ask()

    def check_late(self) -> None:
        """Raises if the step is over, and was to have ended a while ago."""
        self.ask_late()

    def __reduce__(self) -> str:
        """By reference, so that functions with checks in them can be pickled."""
        return "STOP"


STOP = Stop()
"""The one instance."""


def instrument(tree: ast.Module, *, bound: AbstractSet[str] = frozenset(), is_followed: bool = False) -> bool:
    """Puts the checks into the tree, in place; positions of the source stay as they are.

    Args:
        tree: Without its last expression.
        bound: Names that the code binds: an exception's name among them may mean another one.
        is_followed: The last expression was taken out and is evaluated after the tree.

    Returns:
        Whether there is any check in it.
    """
    work = _Instrumenting(_HARMLESS - bound if bound else _HARMLESS)
    work.do_body(tree.body)
    work.do_top(tree.body, is_followed=is_followed)
    return work.n_checks > 0


def seal(code: CodeType) -> CodeType:
    """The code with `STOP` where the text stands for it, in its functions too."""
    constants = tuple(_sealed(constant) for constant in code.co_consts)
    if all(new is old for new, old in zip(constants, code.co_consts, strict=True)):
        return code
    return code.replace(co_consts=constants)


def _sealed(constant: Value) -> Value:
    if isinstance(constant, CodeType):
        return seal(constant)
    return STOP if type(constant) is str and constant == _SENTINEL else constant


def _check_at(line: int, column: int, method: str) -> ast.If:
    """`if STOP.is_due: STOP.check()`."""
    call = ast.Call(func=_attribute(method), args=[], keywords=[])
    check = ast.If(test=_attribute("is_due"), body=[ast.Expr(value=call)], orelse=[])
    for node in ast.walk(check):
        if isinstance(node, ast.expr | ast.stmt):
            node.lineno = node.end_lineno = line
            node.col_offset = node.end_col_offset = column
    return check


def _attribute(name: str) -> ast.Attribute:
    return ast.Attribute(value=ast.Constant(value=_SENTINEL), attr=name, ctx=ast.Load())


class _Instrumenting:
    """One walk over the statements; expressions hold none, so they are not looked at."""

    def __init__(self, harmless: AbstractSet[str]) -> None:
        self._harmless = harmless
        self.n_checks = 0

    def do_body(self, body: list[ast.stmt], *, is_final: bool = False, is_in_loop: bool = False) -> None:
        """Goes through a list of statements.

        Args:
            is_final: The list stands in a `finally`, which a `return` in it would leave.
            is_in_loop: A loop stands between that `finally` and the list, so that `break` leaves the loop only.
        """
        index = 0
        while index < len(body):
            statement = body[index]
            if isinstance(statement, ast.With | ast.AsyncWith):
                self.do_body(statement.body, is_final=is_final, is_in_loop=is_in_loop)
                index += 1
                body.insert(
                    index, self._new_check(statement.end_lineno or statement.lineno, statement.col_offset)
                )
            elif is_final and (
                isinstance(statement, ast.Return)
                or (isinstance(statement, ast.Break | ast.Continue) and not is_in_loop)
            ):
                body.insert(index, self._new_check(statement.lineno, statement.col_offset))
                index += 1
            else:
                self._do_statement(statement, is_final=is_final, is_in_loop=is_in_loop)
            index += 1

    def do_top(self, body: list[ast.stmt], *, is_followed: bool) -> None:
        """Between the statements of the module: an end that a library swallowed is found there.

        None before the first statement that does something, since a `from __future__` must come first.
        """
        for index in range(len(body) if is_followed else len(body) - 1, 0, -1):
            before = body[index - 1]
            if _can_end_the_step(before):
                line = before.end_lineno or before.lineno
                body.insert(index, self._new_check(line, before.col_offset))

    def _new_check(self, line: int, column: int, method: str = "check") -> ast.If:
        self.n_checks += 1
        return _check_at(line, column, method)

    def _do_statement(self, statement: ast.stmt, *, is_final: bool, is_in_loop: bool) -> None:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.do_body(statement.body)
            case ast.Try() | ast.TryStar():
                self._do_try(statement, is_final=is_final, is_in_loop=is_in_loop)
            case ast.For() | ast.AsyncFor() | ast.While():
                self.do_body(statement.body, is_final=is_final, is_in_loop=True)
                self.do_body(statement.orelse, is_final=is_final, is_in_loop=is_in_loop)
            case ast.If():
                self.do_body(statement.body, is_final=is_final, is_in_loop=is_in_loop)
                self.do_body(statement.orelse, is_final=is_final, is_in_loop=is_in_loop)
            case ast.Match():
                for branch in statement.cases:
                    self.do_body(branch.body, is_final=is_final, is_in_loop=is_in_loop)
            case _:
                pass

    def _do_try(self, statement: ast.Try | ast.TryStar, *, is_final: bool, is_in_loop: bool) -> None:
        for body in (statement.body, statement.orelse):
            self.do_body(body, is_final=is_final, is_in_loop=is_in_loop)
        for handler in statement.handlers:
            self.do_body(handler.body, is_final=is_final, is_in_loop=is_in_loop)
            if not self._is_harmless(handler.type):
                handler.body.insert(0, self._new_check(handler.lineno, handler.col_offset))
        if statement.finalbody:
            self.do_body(statement.finalbody, is_final=True)
            first, last = statement.finalbody[0], statement.finalbody[-1]
            # A `finally` that begins anew what was ended would never come to its own end.
            statement.finalbody.insert(0, self._new_check(first.lineno, first.col_offset, "check_late"))
            statement.finalbody.append(self._new_check(last.end_lineno or last.lineno, last.col_offset))

    def _is_harmless(self, caught: ast.expr | None) -> bool:
        match caught:
            case ast.Name(id=name):
                return name in self._harmless
            case ast.Tuple(elts=parts):
                return all(self._is_harmless(part) for part in parts)
            case _:
                return False


def _can_end_the_step(statement: ast.stmt) -> bool:
    """Not what only defines, imports, or binds a name or a constant; nor a check."""
    match statement:
        case ast.Expr(value=ast.Constant()) | ast.Assign(value=ast.Constant() | ast.Name()):
            return False
        case ast.If(test=ast.Attribute(value=ast.Constant(value=value))):
            return value != _SENTINEL
        case _:
            return not isinstance(statement, _DEFINITIONS)
