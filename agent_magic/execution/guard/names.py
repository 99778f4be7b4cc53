"""Names that code may not use, bind or reach as attributes, each with what to do instead.

It must not look at syntax trees: it answers for a name.
"""

from __future__ import annotations

import builtins
import string
from collections.abc import Iterator, Mapping

REFUSED_NAMES: Mapping[str, str] = {
    "exit": "Code cannot end the kernel: to end the run call `final_answer(value)`.",
    "quit": "Code cannot end the kernel: to end the run call `final_answer(value)`.",
    "input": "Nobody can type here: take a sensible value, or ask in the final answer.",
    "breakpoint": "Nobody can debug here: print what you want to look at.",
    "get_ipython": "Write plain Python: magics have no place in it.",
    "globals": "Use the variables by their names; to see whether one is there, catch `NameError`.",
    "exec": "Write the statements themselves in the code block.",
    "eval": "Write the expression itself; for literals in text use `ast.literal_eval`.",
    "compile": "Write the code itself in the code block; for patterns use `re.compile`.",
    "__import__": "Write an `import` statement.",
    "help": "Use `print(x.__doc__)` or `dir(x)`.",
    "__builtins__": "Use the built-in functions by their names.",
}
"""Names that code may not use, and what it is to do instead."""

_PUBLIC_BUILTINS = frozenset(name for name in vars(builtins) if not name.startswith("_")) | {"exit", "quit"}

_FRAMES_WORDS = """
tb_frame f_back f_globals f_locals f_builtins f_code f_trace f_generator gi_frame gi_code gi_yieldfrom
cr_frame cr_code cr_await cr_origin ag_frame ag_code ag_await func_globals func_code co_consts co_code
"""
_FRAMES = frozenset(_FRAMES_WORDS.split())
_BUFFERS = frozenset(("_mgr", "_ndarray"))

_SPECIAL_WORDS = """
abs add aenter aexit aiter and anext annotations array array_finalize array_function array_interface
array_namespace array_priority array_struct array_ufunc array_wrap arrow_array arrow_c_array
arrow_c_schema arrow_c_stream args author await bool buffer bytes call cause ceil class class_getitem
complex contains context copy copyright credits dataclass_fields dataclass_params date dataframe debug
deepcopy del delattr delete delitem dict dir divmod dlpack doc enter eq exit file float floor floordiv
format fspath func future ge geo_interface get getattr getattribute getitem getnewargs getstate gt hash
iadd iand idiv ifloordiv ilshift imatmul imod imul index init init_subclass instancecheck int invert ior
ipow irshift isub iter itruediv ixor keys le len length_hint license lshift lt main match_args matmul
members missing mod module mul name ne neg new next notes optional_keys or orig_bases origin pos
post_init pow prepare qualname radd rand rdivmod release_buffer repr required_keys reversed rfloordiv
rlshift rmatmul rmod rmul ror round rpow rrshift rshift rsub rtruediv rxor set set_name setattr setitem
setstate sizeof slots str sub subclasscheck subclasshook supertype suppress_context text_signature
traceback truediv trunc type_params unpacked value version weakref wrapped xor all bound constraints
parameters total
"""
_SPECIAL = frozenset(_SPECIAL_WORDS.split())
# What a module tells about itself; its `__dict__` would be the way round every rule about it.
_OF_MODULE = frozenset(
    ("__name__", "__doc__", "__version__", "__all__", "__author__", "__file__", "__class__")
)
_OF_NAMESPACE = frozenset(("__name__", "__doc__", "__file__", "__debug__", "__annotations__"))


def is_builtin(name: str) -> bool:
    """Whether Python itself has a function, class or constant of this name for everybody."""
    return name in _PUBLIC_BUILTINS


def is_dunder(name: str) -> bool:
    """Whether the name is of the form that Python keeps for itself."""
    return len(name) > 4 and name.startswith("__") and name.endswith("__")


def why_not_name(name: str) -> str | None:
    """What to do instead of using a name, or None if it may be used."""
    instead = REFUSED_NAMES.get(name)
    if instead is None and is_dunder(name) and name not in _OF_NAMESPACE:
        return "Code works with values, not with the interpreter's own parts."
    return instead


def why_not_attribute(name: str) -> str | None:
    """Why an attribute of any value may not be reached, or None if it may."""
    if name in _FRAMES:
        return "it reaches the interpreter's frames and code"
    if name in _BUFFERS:
        return "it reaches a private buffer of a frame or array"
    if is_dunder(name) and name[2:-2] not in _SPECIAL:
        return "it reaches the interpreter's own parts"
    return None


def is_private_of_module(name: str) -> bool:
    """Whether a module has the attribute for itself only."""
    return name.startswith("_") and name not in _OF_MODULE


def attributes_in_format(template: str) -> Iterator[str]:
    """The attributes that a template of `str.format` would reach."""
    if "." not in template or "{" not in template:
        return
    try:
        fields = [(field, spec) for _, field, spec, _ in string.Formatter().parse(template)]
    except ValueError:
        return  # `format` will refuse it, too
    for field, spec in fields:
        for part in (field or "").split(".")[1:]:
            yield part.partition("[")[0]
        if spec:
            yield from attributes_in_format(spec)
