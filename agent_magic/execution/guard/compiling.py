"""Compiled: code parsed, checked against the rules, given its checks and compiled, so that tracebacks show its lines.

It must not run any of it.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType

from agent_magic.core.errors import CodeRefused, ParsingError
from agent_magic.core.redact import redact
from agent_magic.core.text import strip_control
from agent_magic.execution.guard.checking import Checked, check
from agent_magic.execution.guard.rules import Rules, to_refusal
from agent_magic.execution.reply.notebook_syntax import refuse_notebook_syntax
from agent_magic.execution.reply.source import UNREADABLE, parse_module, refuse_unreadable
from agent_magic.execution.stop.checkpoints import instrument, seal


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """Code that can be run: first `code`, then, for its value, `last`."""

    code: CodeType
    """All statements but the last expression. A coroutine comes of evaluating it, if it awaits."""
    last: CodeType | None
    """The last expression, to be evaluated; None if there is none, or a `;` after it hides its value."""
    is_async: bool
    """Whether `code` or `last` awaits at the top level."""
    filename: str
    binds: frozenset[str]
    """Names of the namespace that the code itself may bind or delete."""
    notes: tuple[str, ...]
    """For the model: what of the code was not done."""


def compile_code(code: str, *, filename: str, rules: Rules) -> Compiled:
    """The code, ready to run; its lines are known to tracebacks under `filename`.

    Args:
        filename: Of this code alone: what an earlier code of the same name defined would show these lines.

    Raises:
        ParsingError: Python cannot read it.
        CodeRefused: The rules refuse something in it, or it is no Python but the notebook's own syntax.
    """
    refuse_unreadable(code)
    try:
        tree = parse_module(code, filename)
        checked = check(tree, rules)
        if checked.faults:
            raise to_refusal(checked.faults, code)
        notes = _drop(tree, checked, rules.final_name) if checked.dropped else ()
        last = _split_last(tree, code)
        has_checks = instrument(tree, bound=checked.bound_anywhere, is_followed=last is not None)
        body, value = _compile(tree, last, filename)
    except UNREADABLE as error:
        raise _to_parsing_error(error, code) from None
    if has_checks:
        body = seal(body)
    lines = [line + "\n" for line in code.split("\n")]
    # Without a time of change, so that `linecache.checkcache` leaves it.
    linecache.cache[filename] = (len(code), None, lines, filename)
    return Compiled(
        code=body,
        last=value,
        is_async=any(part.co_flags & inspect.CO_COROUTINE for part in (body, value) if part is not None),
        filename=filename,
        binds=checked.binds,
        notes=notes,
    )


def _compile(tree: ast.Module, last: ast.Expr | None, filename: str) -> tuple[CodeType, CodeType | None]:
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `x is 3` and the like: the author's affair, and no fault
        body = compile(tree, filename, "exec", flags, dont_inherit=True)
        if last is None:
            return body, None
        future = body.co_flags & _FUTURES
        value = compile(ast.Expression(body=last.value), filename, "eval", flags | future, dont_inherit=True)
    return body, value


_FUTURES = 0x1FE0000
"""The bits of `from __future__` in a code's flags: the last expression is of the same code."""


def _split_last(tree: ast.Module, code: str) -> ast.Expr | None:
    """Takes the last expression out of the tree, unless a `;` stands after it."""
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr) or getattr(last, "is_dropped", False):
        return None
    if ";" in code and _ends_in_semicolon(last, code):
        return None
    del tree.body[-1]
    return last


def _ends_in_semicolon(last: ast.Expr, code: str) -> bool:
    lines = code.split("\n")[(last.end_lineno or 1) - 1 :]
    lines[0] = lines[0].encode()[last.end_col_offset or 0 :].decode()
    # After the last statement only brackets, comments and the sign itself can stand.
    return any(";" in line.partition("#")[0] for line in lines)


def _drop(tree: ast.Module, checked: Checked, name: str) -> tuple[str, ...]:
    """Takes the assignments to the answer's name out of the tree; what they compute stays."""
    dropped = {id(statement) for statement in checked.dropped}
    for body in _bodies(tree):
        for index, statement in enumerate(body):
            if id(statement) in dropped:
                body[index] = _without(statement, name)
    lines = ", ".join(str(statement.lineno) for statement in checked.dropped)
    note = (
        f"Line {lines}: the assignment to `{name}` was left out, since it is the function that gives the answer; "
        f"the call on line {checked.answer_line} counts."
    )
    return (note,)


def _without(statement: ast.stmt, name: str) -> ast.stmt:
    match statement:
        case ast.Assign(targets=targets):
            statement.targets = [
                target for target in targets if not (isinstance(target, ast.Name) and target.id == name)
            ]
            if statement.targets:
                return statement
            value = statement.value
        case ast.AnnAssign(value=ast.expr() as value):
            pass
        case _:
            return statement
    new = ast.copy_location(ast.Expr(value=value), statement)
    new.is_dropped = True  # type: ignore[attr-defined] # a mark of ours: its value is not the code's
    return new


def _bodies(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """The lists of statements that run in the module's own scope."""
    todo: list[list[ast.stmt]] = [tree.body]
    while todo:
        body = todo.pop()
        yield body
        for statement in body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            todo += [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
            todo += [
                part.body for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ()))
            ]


def _to_parsing_error(error: BaseException, code: str) -> ParsingError | CodeRefused:
    if not isinstance(error, SyntaxError):
        return ParsingError(
            f"Python cannot read the code, and nothing ran: {_too_deep(error)}.\n"
            "Split it: bind the parts to names, one statement each."
        )
    refusal = refuse_notebook_syntax(code, error.lineno or 1)
    if refusal is not None:
        return refusal
    kind = type(error).__name__
    line = code.split("\n")[error.lineno - 1] if error.lineno and error.lineno <= code.count("\n") + 1 else ""
    text = f"{kind}, line {error.lineno or 1}: {error.msg.rstrip('.')}{'' if error.msg.endswith('?') else '.'} Nothing ran."
    if line.strip():
        # Of an indentation Python tells the line only.
        offset = 0 if isinstance(error, IndentationError) else error.offset or 0
        text += f"\n{_marked(line, offset)}"
    return ParsingError(redact(f"{text}\n{_advice(error, line)}"))


def _too_deep(error: BaseException) -> str:
    return "it is nested too deep" if isinstance(error, RecursionError | MemoryError) else str(error)


def _marked(line: str, offset: int) -> str:
    """The line, with a sign below where Python stopped."""
    shown = strip_control(line.expandtabs(4)).rstrip()
    if len(shown) > 160:
        start = max(0, min(offset - 80, len(shown) - 160))
        shown, offset = shown[start : start + 160], offset - start
    mark = f"\n    {' ' * (offset - 1)}^" if 0 < offset <= len(shown) + 1 and "\t" not in line else ""
    return f"    {shown}{mark}"


_ADVICE = (
    (
        r"outside function",
        "`return` and `yield` belong in a function: to give the answer call `final_answer(value)`.",
    ),
    (r"inconsistent use of tabs|unindent|indent", "Indent each block with four spaces, and never with tabs."),
    (
        r"unterminated|never closed|EOF",
        "Close it; for text of several lines use triple quotes. Then send the whole code again.",
    ),
    (
        r"invalid (?:non-printable )?character",
        "Write plain ASCII quotes and signs. Then send the whole code again.",
    ),
    (r"Missing parentheses in call to 'print'", "Write `print(...)`. Then send the whole code again."),
)


def _advice(error: SyntaxError, line: str) -> str:
    if line.lstrip().startswith(("```", "<code>", "</code>")):
        return "Put the code between one `<code>` and one `</code>`, with nothing else there."
    if line.lstrip().startswith((">>> ", "In [")):
        return "Write the statements alone, without the prompt signs."
    for pattern, advice in _ADVICE:
        if re.search(pattern, str(error.msg)):
            return advice
    return "Mend this line and send the whole code again."
