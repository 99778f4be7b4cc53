"""How large a value the constants of an expression would make: `10**10**10`, `[0] * 10**11`.

It must not compute it.
"""

from __future__ import annotations

import ast

MAX_BITS = 30_000_000
"""Of a whole number; a larger one takes seconds in one call that nothing can stop."""
MAX_ITEMS = 50_000_000
MAX_BYTES = 500_000_000

_MAKES_BYTES = frozenset(("bytes", "bytearray"))
_MAKES_ITEMS = frozenset(("list", "tuple", "set", "frozenset", "sorted"))


def why_too_large(node: ast.BinOp | ast.Call) -> str | None:
    """What would be too large, or None; only what constants alone decide is looked at."""
    if isinstance(node, ast.BinOp):
        return _why_operation(node)
    if not isinstance(node.func, ast.Name) or len(node.args) != 1:
        return None
    if node.func.id in _MAKES_BYTES:
        size = _to_int(node.args[0])
        return f"{size:,} bytes at once" if size is not None and size > MAX_BYTES else None
    if node.func.id in _MAKES_ITEMS:
        n_items = _range_length(node.args[0])
        return f"a {node.func.id} of {n_items:,} items" if n_items > MAX_ITEMS else None
    return None


def _why_operation(node: ast.BinOp) -> str | None:
    match node.op:
        case ast.Pow() | ast.LShift() | ast.Mult():
            bits = _bits(node)
        case _:
            return None
    if bits is not None and bits > MAX_BITS:
        return (
            f"a whole number of up to {int(bits * 0.30103):,} digits"
            if bits < 10**15
            else "a whole number beyond all memory"
        )
    if isinstance(node.op, ast.Mult):
        for part, count in ((node.left, node.right), (node.right, node.left)):
            times = _to_int(count)
            if times is None:
                continue
            if isinstance(part, ast.List | ast.Tuple) and len(part.elts) * times > MAX_ITEMS:
                return f"{len(part.elts) * times:,} items at once"
            if isinstance(part, ast.Constant) and isinstance(part.value, str | bytes):
                size = len(part.value) * times
                return f"{size:,} characters at once" if size > MAX_BYTES else None
    return None


def _bits(node: ast.expr, depth: int = 8) -> int | None:
    """About how many bits the whole number of an expression of constants has, as an upper bound."""
    value = _to_int(node)
    if value is not None:
        return value.bit_length()
    if not isinstance(node, ast.BinOp) or not depth:
        return None
    match node.op:
        case ast.Pow() | ast.LShift():
            left, right = _bits(node.left, depth - 1), _to_int(node.right)
            if left is None:
                return None
            if right is None:  # an exponent too large to be computed here
                exponent_bits = _bits(node.right, depth - 1)
                return None if exponent_bits is None or left <= 1 else 1 << min(exponent_bits, 60)
            return left * right if isinstance(node.op, ast.Pow) else left + right
        case ast.Mult():
            left, right = _bits(node.left, depth - 1), _bits(node.right, depth - 1)
            return None if left is None or right is None else left + right
        case _:
            return None


def _to_int(node: ast.expr, depth: int = 8) -> int | None:
    """The whole number that an expression of constants stands for, if it has at most 4,096 bits."""
    match node:
        case ast.Constant(value=int(value)) if value.bit_length() <= 4_096:
            return int(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand) if depth:
            value = _to_int(operand, depth - 1)
            return None if value is None else -value
        case ast.BinOp(left=left, op=operator, right=right) if depth:
            first, second = _to_int(left, depth - 1), _to_int(right, depth - 1)
            return None if first is None or second is None else _operate(first, operator, second)
        case _:
            return None


def _operate(first: int, operator: ast.operator, second: int) -> int | None:
    match operator:
        case ast.Add():
            return first + second
        case ast.Sub():
            return first - second
        case ast.Mult():
            return first * second
        case ast.FloorDiv() if second:
            return first // second
        case ast.Pow() if second >= 0 and first.bit_length() * second <= 4_096:
            return first**second
        case ast.LShift() if 0 <= second <= 4_096:
            return first << second
        case _:
            return None


def _range_length(node: ast.expr) -> int:
    match node:
        case ast.Call(func=ast.Name(id="range"), args=[_, *_] as args, keywords=[]) if len(args) <= 3:
            numbers = [_to_int(arg) for arg in args]
            known = [number for number in numbers if number is not None]
            if len(known) < len(args) or (len(known) == 3 and known[2] == 0):
                return 0
            made = range(*known)
            # `len` refuses more than a machine word.
            return max(0, -((made.start - made.stop) // made.step))
        case _:
            return 0
