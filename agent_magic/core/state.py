"""State: the names whose live values an agent may use, and the rule for referring to them.

`State` is the protocol (in a notebook the kernel's namespace serves it), `DictState` and
`NamespaceState` those for plain Python, `AgentState` what one agent sees of a State: which names are open to it, and a layer of
its own for what was too long to tell. It must not look into the values.
"""

from __future__ import annotations

import difflib
import keyword
import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, Protocol

from agent_magic.core.values import Value

Scope = Literal["named", "all"]
"""`named`: only names that were mentioned, given or made by the agent. `all`: the whole State."""
References = Literal["typed", "exact"]
"""How a bare string becomes a live value: by the declared type, or whenever it equals an open name."""


_KEPT = re.compile(r"obs_[1-9][0-9]{0,8}")


class State(Protocol):
    """Names and their live values; reading, binding and unbinding are all that an agent does with them."""

    def __contains__(self, name: object, /) -> bool: ...
    def __getitem__(self, name: str, /) -> Value: ...
    def __iter__(self) -> Iterator[str]: ...
    def bind(self, name: str, value: Value) -> None:
        """Make `name` mean `value` from now on."""
        ...

    def unbind(self, name: str) -> None:
        """Let there be no `name` any more."""
        ...


class DictState(dict[str, Value]):
    """A State that is a dictionary, for use outside a notebook."""

    def bind(self, name: str, value: Value) -> None:
        """Make `name` mean `value` from now on."""
        self[name] = value

    def unbind(self, name: str) -> None:
        """Let there be no `name` any more."""
        self.pop(name, None)


class NamespaceState:
    """A State on a dictionary of the person's, such as `globals()`: what is bound is bound there.

    `__dunder__` names are there, but are not listed.
    """

    def __init__(self, namespace: dict[str, Value]) -> None:
        self.namespace = namespace

    def __contains__(self, name: object) -> bool:
        return name in self.namespace

    def __getitem__(self, name: str) -> Value:
        return self.namespace[name]

    def __iter__(self) -> Iterator[str]:
        # A copy: tools that run in other threads may bind names meanwhile.
        return iter([name for name in list(self.namespace) if not _is_dunder(name)])

    def items(self) -> list[tuple[str, Value]]:
        """All names with their values, as iteration lists them."""
        return [(name, value) for name, value in self.namespace.copy().items() if not _is_dunder(name)]

    def bind(self, name: str, value: Value) -> None:
        """Make `name` mean `value` from now on."""
        self.namespace[name] = value

    def unbind(self, name: str) -> None:
        """Let there be no `name` any more."""
        self.namespace.pop(name, None)


def _is_dunder(name: str) -> bool:
    return name[:2] == "__" and name[-2:] == "__"


class AgentState:
    """A State as one agent, or one of its runs, sees it.

    Reading by `[...]` looks into the agent's own layer first, then into the State, and is not
    limited to open names: it is the person who reads so. A model's references go through
    `lookup`, which is.
    """

    def __init__(
        self,
        base: State | None = None,
        *,
        scope: Scope = "named",
        references: References = "typed",
        layer: dict[str, Value] | None = None,
        opened: Iterable[str] = (),
        lock: threading.Lock | None = None,
    ) -> None:
        self.base: State = DictState() if base is None else base
        self.scope: Scope = scope
        self.references: References = references
        self._layer: dict[str, Value] = {} if layer is None else layer
        self._extra: dict[str, Value] = {}
        self._handed: dict[str, Value] = {}
        self._opened: dict[str, None] = dict.fromkeys(opened)
        self._lost: dict[str, None] = {}
        self._undone: list[str] = []
        self._lock = lock or threading.Lock()

    def fork(
        self, *, extra: Mapping[str, Value] | None = None, opened: Iterable[str] = (), fresh: bool = False
    ) -> AgentState:
        """The State of one run: same base and layer, its own open names and extra values.

        Args:
            extra: Values known to this run only, by name (`additional_args`); they are open.
            opened: Names that this run's task mentions.
            fresh: Start with no name open but the ones given here and those the agent keeps.
        """
        run = AgentState(
            self.base,
            scope=self.scope,
            references=self.references,
            layer=self._layer,
            opened=[*([] if fresh else self._opened), *opened],
            lock=self._lock,
        )
        run._lost = self._lost
        run._undone = self._undone
        run._extra = {**({} if fresh else self._extra), **(extra or {})}
        run._handed = {**({} if fresh else self._handed), **(extra or {})}
        return run

    def apart(self) -> AgentState:
        """A State on the same base that knows nothing else of this one: no open names, nothing kept."""
        return AgentState(self.base, scope=self.scope, references=self.references, lock=self._lock)

    def copy(self) -> AgentState:
        """The State as it is now; what is kept or opened there is not seen here."""
        copy = self.fork()
        copy._layer = dict(self._layer)
        return copy

    def join(self, run: AgentState) -> None:
        """Take over what a run of this agent had open."""
        self._opened.update(run._opened)
        self._extra.update(run._extra)
        self._handed.update(run._handed)

    def close_names(self) -> None:
        """Forget which names were open and the extra values; the person's variables stay."""
        self._opened.clear()
        self._extra.clear()
        self._handed.clear()

    def open(self, name: str) -> None:
        """Let a model refer to `name` from now on."""
        self._opened[name] = None

    def is_open(self, name: str) -> bool:
        """Whether a model may refer to `name`, and it exists now."""
        if name in self._extra or name in self._layer:
            return True
        return (self.scope == "all" or name in self._opened) and name in self.base

    def open_names(self) -> list[str]:
        """The names a model may refer to now, oldest first."""
        base = self.base if self.scope == "all" else (name for name in self._opened if name in self.base)
        return list(dict.fromkeys([*base, *self._extra, *self._layer]))

    def lookup(self, name: str) -> Value:
        """The live value of an open name.

        Raises:
            KeyError: The name is not open, or nothing has it.
        """
        if not self.is_open(name):
            raise KeyError(name)
        return self[name]

    def nearest(self, name: str) -> list[str]:
        """At most three open names that look like `name`, nearest first."""
        return difflib.get_close_matches(name, self.open_names(), n=3, cutoff=0.5)

    def bind_result(self, tool_name: str, value: Value) -> str:
        """Bind a tool's result to the first free of `<tool>_1`, `<tool>_2`, …; it is open then.

        Returns:
            The name. A name that exists is never taken.
        """
        with self._lock:
            number = 1
            while (name := f"{tool_name}_{number}") in self or name in self._lost:
                number += 1
            self.base.bind(name, value)
            self._opened[name] = None
        return name

    def keep(self, value: Value) -> str:
        """Keep what was too long to tell whole in the agent's own layer, as the next `obs_N`."""
        with self._lock:
            names = (*self._layer, *self._lost, *self._extra)  # a manager may hand over what it kept
            numbers = [int(name[4:]) for name in names if _KEPT.fullmatch(name)]
            name = f"obs_{1 + max(numbers, default=0)}"
            self._layer[name] = value
        return name

    @property
    def own(self) -> dict[str, Value]:
        """What is not in the State but in a layer of this agent's, or of this run's: `obs_N`, extra values."""
        return {**self._layer, **self._extra}

    @property
    def handed(self) -> dict[str, Value]:
        """Of the extra values those that were given with a task: they are the person's."""
        return {name: value for name, value in self._handed.items() if self._extra.get(name) is value}

    def keep_names(self, values: Mapping[str, Value]) -> None:
        """Keep values under their names in the layer, where only this agent sees them; they are open."""
        self._extra.update(values)

    def drop_names(self, names: Iterable[str]) -> None:
        """Forget names that were kept in the layer."""
        for name in names:
            self._extra.pop(name, None)

    def tell_undone(self, lines: Iterable[str]) -> None:
        """Note what the person took back, for the model to be told with the next task."""
        self._undone.extend(lines)

    def take_undone(self) -> tuple[str, ...]:
        """What the person took back since this was asked last."""
        taken = tuple(self._undone)
        self._undone.clear()
        return taken

    def restore(self, name: str, value: Value) -> None:
        """Put back what was kept as `obs_N` before, of a memory that was loaded; what is there stays."""
        with self._lock:
            self._layer.setdefault(name, value)

    def forget_kept(self) -> None:
        """Let go of all that was kept, and of what is known to be lost."""
        with self._lock:
            self._layer.clear()
            self._lost.clear()

    def lose(self, name: str) -> None:
        """A memory that was loaded tells of this name; no other value gets it, and none has it as far as is known."""
        self._lost[name] = None

    def is_lost(self, name: str) -> bool:
        """Whether a memory that was loaded tells of this name, and nothing has it."""
        return name in self._lost and name not in self

    @property
    def has_kept(self) -> bool:
        """Whether something was too long to tell and is kept as `obs_N`, or was."""
        return bool(self._layer) or any(map(_KEPT.fullmatch, self._lost))

    def __contains__(self, name: object) -> bool:
        return name in self._extra or name in self._layer or name in self.base

    def __getitem__(self, name: str) -> Value:
        for names in (self._extra, self._layer):
            if name in names:
                return names[name]
        return self.base[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._extra, *self._layer, *self.base]))

    def get(self, name: str, default: Value = None) -> Value:
        """The value of `name`, or `default`."""
        return self[name] if name in self else default  # noqa: SIM401 - this is the method itself


def parse_reference(text: str) -> str | None:
    """The name that a text of the form `@name` refers to; None for any other text."""
    # NFKC is how Python itself spells names: what is typed in a cell and what a model writes meet there.
    name = unicodedata.normalize("NFKC", text[1:])
    return name if text[:1] == "@" and is_usable_name(name) else None


def is_usable_name(name: str) -> bool:
    """Whether `name` can be a variable: an identifier that is no keyword."""
    return name.isidentifier() and not keyword.iskeyword(name)
