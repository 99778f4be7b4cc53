"""KernelState: the notebook's variables as a State.

It must not decide which of them an agent may use, beyond keeping the kernel's own to the kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_magic.core.values import Value
from agent_magic.notebook.kernel.shell import Shell

# The last outputs and inputs, the numbered ones, the histories, and names with two underscores at both ends.
_ALWAYS_INTERNAL = re.compile(r"_{1,3}|_i{1,3}|_\d+|_i\d+|_[iod]h|_exit_code|__.*__")
_KERNEL_NAMES = frozenset({"In", "Out", "exit", "quit", "open", "get_ipython"})
_ABSENT = object()


class KernelState:
    """The names of the notebook and their live values, in the order in which they came up.

    The kernel's own names (`In Out exit quit open get_ipython _ _12 …`) and `__dunder__` names are
    not there at all, but `open` and the like are once the person has bound them to something else.
    Names that a profile or a startup file brought are there, but are not listed.
    """

    def __init__(self, shell: Shell) -> None:
        self.shell = shell

    @property
    def namespace(self) -> dict[str, Value]:
        """Where all of them are, the kernel's own too."""
        return self.shell.user_ns

    def is_internal(self, name: str) -> bool:
        """Whether a name of the namespace is the kernel's own and not there for anybody else."""
        if name[:1] == "_":  # code asks this of every name at every step
            return _ALWAYS_INTERNAL.fullmatch(name) is not None
        return name in _KERNEL_NAMES and (name not in self.shell.user_ns_hidden or self._is_hidden(name))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.shell.user_ns and not self.is_internal(name)

    def __getitem__(self, name: str) -> Value:
        if name not in self:
            raise KeyError(name)
        return self.shell.user_ns[name]

    def __iter__(self) -> Iterator[str]:
        # A copy: tools that run in other threads may bind names meanwhile.
        return iter([name for name in list(self.shell.user_ns) if name in self and not self._is_hidden(name)])

    def items(self) -> list[tuple[str, Value]]:
        """All names with their values, as iteration lists them, but read in one go: it is much faster."""
        hidden = self.shell.user_ns_hidden
        return [
            (name, value)
            for name, value in self.shell.user_ns.copy().items()
            if type(name) is str
            and hidden.get(name, _ABSENT) is not value
            and not (name[:1] == "_" and _ALWAYS_INTERNAL.fullmatch(name))
            and (name not in _KERNEL_NAMES or name in hidden)
        ]

    def get(self, name: str) -> Value:
        """The value of `name`; None if there is none."""
        return self.shell.user_ns.get(name) if name in self else None

    def bind(self, name: str, value: Value) -> None:
        """Make `name` a variable of the notebook."""
        self.shell.user_ns[name] = value

    def unbind(self, name: str) -> None:
        """Let there be no such variable of the notebook any more."""
        self.shell.user_ns.pop(name, None)

    def _is_hidden(self, name: str) -> bool:
        """Whether IPython put it there, or found it at its start, and nobody has bound it since."""
        first = self.shell.user_ns_hidden.get(name, _ABSENT)
        return first is not _ABSENT and first is self.shell.user_ns.get(name)


def is_kernel_internal(name: str) -> bool:
    """Whether the kernel itself reads and writes a variable of this name."""
    return _ALWAYS_INTERNAL.fullmatch(name) is not None or name in _KERNEL_NAMES - {"open"}
