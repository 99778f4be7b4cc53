"""Tool: the one definition of a capability: what a model is told of it, and how a call gets to its body.

It must not know the loop that calls it, nor where its arguments were read from.
"""

from __future__ import annotations

import copy
import inspect
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Self

from agent_magic.core.messages import ToolExample, ToolSchema
from agent_magic.core.state import AgentState
from agent_magic.core.values import Value
from agent_magic.tools.arguments import ArgumentReader, PreparedCall
from agent_magic.tools.class_form import check_class, read_parameters, read_returns
from agent_magic.tools.examples import read_examples
from agent_magic.tools.parameter import Parameter, Returns, Star
from agent_magic.tools.precondition import Precondition, requires_of
from agent_magic.tools.result_schema import ResultSchema
from agent_magic.tools.turns import take_turn
from agent_magic.tools.words import JSON

__all__ = ["Definition", "PreparedCall", "Tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """What was worked out of a tool once."""

    parameters: tuple[Parameter, ...]
    """In the order of the body's own, as code may give them by position."""
    stars: Mapping[Star, Parameter]
    """Those that take any number of values, which only code can give."""
    returns: Returns
    reader: ArgumentReader
    schema: ToolSchema
    precondition: Precondition | None
    result_schema: ResultSchema | None


class Tool:
    """A capability that a model can use.

    Functions become tools by themselves. Write a class where a tool has something to set up:

    ```python
    class Weather(Tool):
        name = "weather"
        description = "The weather of a city now, in one sentence."
        inputs = {"city": {"type": "string", "description": "its English name"}}
        output_type = "string"

        def setup(self):  # once, before the first call
            self.table = load_table()

        def forward(self, city: str) -> str:
            return self.table[city]
    ```

    The attributes are checked against `forward` when the class is defined. Beside `type` and
    `description` an input may have `nullable` and any keyword of JSON Schema.
    """

    name: str
    description: str
    inputs: Mapping[str, Mapping[str, Value]]
    output_type: str
    examples: Sequence[str | ToolExample] = ()
    """Worked examples, as `"task -> call(arg=value)"` or whole."""
    sequential: bool = False
    """Never runs at the same time as another call of its turn, nor as another call of the tool, whoever makes it."""
    main_thread: bool = False
    """Runs in the main thread even where tools run in others; see `@tool`."""
    timeout_s: float | None = None
    """A call that takes longer is given up, and the model is told; the body itself cannot be stopped."""
    approve: bool = False
    """Every call waits for the person's word, whatever the agent's `approve` says."""
    output_schema: Mapping[str, Value] | None = None
    """A JSON Schema of what it returns: the model is told it, and each result is checked against it."""
    requires: Callable[..., Value] | None = None
    """Asked right before each call, with those of its arguments that it has parameters for; it says no
    by what is falsy, by `(False, "why")` or by an exception, and the body is not entered then."""
    warnings: tuple[str, ...] = ()
    """What is weak about the definition, for its author, each with the fix."""

    _setup_lock: threading.RLock
    _is_set_up: bool

    def __init_subclass__(cls, *, is_abstract: bool = False, **kwargs: Value) -> None:
        """Check a class form.

        Args:
            is_abstract: A class that others derive from; it is not checked.
            kwargs: Whatever another base class wants.
        """
        super().__init_subclass__(**kwargs)
        if not is_abstract:
            check_class(cls)

    def __new__(cls, *args: Value, **kwargs: Value) -> Self:
        """Make an instance; here and not in `__init__`, which subclasses write without calling ours."""
        del args, kwargs
        new = super().__new__(cls)
        new._setup_lock = threading.RLock()
        new._is_set_up = False
        return new

    def setup(self) -> None:
        """Get ready for the first call; write it if there is something to load. Called once."""

    def forward(self, *args: Value, **kwargs: Value) -> Value:
        """The tool's body; written by the class form."""
        raise NotImplementedError

    forward.is_missing = True  # pyright: ignore[reportFunctionMemberAccess] - tells this one from a written one

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        """Call it from Python: set up once, convert the arguments, call the body.

        Raises:
            ToolCallError: An argument does not fit its schema.
            ToolExecutionError: The result does not fit its `output_schema`.
            TypeError: The arguments do not fit the signature.
        """
        bound = inspect.signature(self.forward).bind(*args, **kwargs)
        result = self.invoke(self.definition.reader.prepare(bound.arguments, None))
        if not inspect.isawaitable(result):
            self.check_result(result)
        return result

    def to_schema(self) -> ToolSchema:
        """What a model is told; the same object each time."""
        return self.definition.schema

    def prepare(self, arguments: Mapping[str, Value], state: AgentState | None) -> PreparedCall:
        """A model's arguments made ready: references replaced, checked, converted.

        Args:
            arguments: By name.
            state: None where code calls: the values are live, and no text is a reference.

        Raises:
            ToolCallError: The call cannot be made; the text says what to write instead.
        """
        return self.definition.reader.prepare(arguments, state)

    def invoke(self, prepared: PreparedCall) -> Value:
        """Call the body; the answer of an async tool is to be awaited.

        Raises:
            ToolCallError: The tool's precondition does not hold; the body was not entered.
        """
        self.get_ready()

        def enter() -> Value:
            self.check_precondition(prepared)
            return self.forward(*prepared.args, **prepared.kwargs)

        return take_turn(self.forward, enter) if self.sequential else enter()

    def get_ready(self) -> None:
        """Set up, if that was not done; `invoke` does so before the body."""
        if not self._is_set_up:
            self._set_up()

    def check_precondition(self, prepared: PreparedCall) -> None:
        """Ask `requires`, if there is one; `invoke` does so before the body.

        Raises:
            ToolCallError: It said no.
        """
        precondition = self.definition.precondition
        if precondition is not None:
            precondition.check(prepared)

    def check_result(self, result: Value) -> None:
        """Hold a result, awaited if it was to be, against `output_schema`, if there is one.

        Raises:
            ToolExecutionError: It does not fit.
        """
        if self.output_schema is not None and self.definition.result_schema is not None:
            self.definition.result_schema.check(result)

    @property
    def gives_images(self) -> bool:
        """Whether its author says so; then an array is shown that might be anything else."""
        return getattr(self, "output_type", "") == "image"

    @property
    def call_form(self) -> str:
        """How a model calls it: `Call order with {"n": <integer>}`, say."""
        return self.definition.reader.to_call_form(JSON)

    def renamed(self, name: str) -> Self:
        """The same tool under another name."""
        twin = copy.copy(self)
        twin.name = name
        twin.__dict__.pop("definition", None)
        return twin

    @cached_property
    def definition(self) -> Definition:
        """Parameters, schema and argument reader, made at the first use."""
        parameters = read_parameters(self)
        examples, warnings = read_examples(
            self.examples, self.name, [parameter.name for parameter in parameters]
        )
        self.warnings = (*self.warnings, *warnings)
        return self.build_definition(parameters, examples, returns=read_returns(self))

    def build_definition(
        self,
        parameters: tuple[Parameter, ...],
        examples: Iterable[ToolExample],
        *,
        returns: Returns,
        stars: Mapping[Star, Parameter] = MappingProxyType({}),
    ) -> Definition:
        """The definition of these parameters under this tool's name and description."""
        schema: dict[str, Value] = {
            "type": "object",
            "properties": {parameter.name: parameter.to_property() for parameter in parameters},
        }
        required = [parameter.name for parameter in parameters if parameter.is_required]
        if required:
            schema["required"] = required
        schema["additionalProperties"] = False
        definitions = {name: inner for p in parameters for name, inner in p.hint_schema.definitions.items()}
        if definitions:
            schema["$defs"] = definitions
        requires = requires_of(self)
        promised = None if self.output_schema is None else ResultSchema(self.output_schema, self.name)
        description = self.description
        if promised is not None:
            self.warnings = tuple(dict.fromkeys((*self.warnings, *promised.warnings)))
            description = f"{description.rstrip()}\n\nIts result fits this JSON Schema: {promised.text}"
        return Definition(
            parameters=parameters,
            stars=stars,
            returns=returns,
            reader=ArgumentReader(self.name, parameters, stars),
            precondition=None if requires is None else Precondition(requires, self.name, parameters),
            result_schema=promised,
            schema=ToolSchema(
                name=self.name, description=description, parameters=schema, examples=tuple(examples)
            ),
        )

    def _set_up(self) -> None:
        with self._setup_lock:
            if not self._is_set_up:
                self.setup()
                self._is_set_up = True
