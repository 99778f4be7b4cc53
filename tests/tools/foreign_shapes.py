"""Tools of other libraries by their shape alone: what those look like to someone who does not import them.

It must not import the libraries.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field, model_validator


class Smol:
    """The shape of smolagents' `Tool`."""

    name: str
    description: str
    inputs: Mapping[str, Any]
    output_type: str

    def __init__(self) -> None:
        self.is_initialized = False

    def __call__(self, *args: Any, sanitize_inputs_outputs: bool = False, **kwargs: Any) -> Any:
        if not self.is_initialized:
            self.setup()
        return self.forward(*args, **kwargs)  # pyright: ignore[reportAttributeAccessIssue] - subclasses write it

    def setup(self) -> None:
        self.is_initialized = True


class Weather(Smol):
    name = "weather"
    description = "The weather of a city now."
    inputs: Mapping[str, Any] = {
        "city": {"type": "string", "description": "its English name"},
        "days": {"type": "integer", "description": "how many days ahead", "nullable": True},
    }
    output_type = "string"

    def __init__(self) -> None:
        super().__init__()
        self.n_setups = 0

    def setup(self) -> None:
        time.sleep(0.01)  # so that a second thread would come in between
        self.n_setups += 1

    def forward(self, city: str, days: int = 1) -> str:
        return f"{city}: sun for {days}"


class Rows(Smol):
    name = "rows"
    description = "How many rows a table has."
    inputs: Mapping[str, Any] = {"table": {"type": "object", "description": "a table"}}
    output_type = "integer"

    def forward(self, table):
        return len(table)


class Anything(Smol):
    """One whose body takes whatever comes, as wrappers do."""

    name = "search"
    description = "Search."
    inputs: Mapping[str, Any] = {
        "query": {"type": "string", "description": "what"},
        "colour": {"type": "string", "description": "which", "enum": ["teal", "ochre"], "nullable": True},
        "picture": {"type": "image", "description": "alike", "nullable": True},
        "more": {"type": "any", "description": "anything", "nullable": True},
    }
    output_type = "any"
    skip_forward_signature_validation = True

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return {key: kwargs[key] for key in sorted(kwargs)}


class Query(BaseModel):
    text: str = Field(description="what to look for")
    kind: Literal["news", "papers"] = "news"
    limit: int = Field(default=3, ge=1, le=9, description="how many")

    @model_validator(mode="after")
    def check(self) -> Query:
        if self.text == "nothing":
            raise ValueError("there is nothing to look for")
        return self


class ToolException(Exception):
    """What LangChain's tools raise to tell the model something."""


class Lang:
    """The shape of LangChain's `BaseTool`: it cannot be called, and checks arguments by its schema."""

    args_schema: Any = None

    def __init__(
        self,
        name: str,
        description: str,
        args_schema: Any = None,
        func: Callable[..., Any] | None = None,
        coroutine: Callable[..., Any] | None = None,
    ) -> None:
        self.name, self.description, self.args_schema = name, description, args_schema
        self.func, self.coroutine = func, coroutine

    def invoke(self, input: Mapping[str, Any], config: Any = None) -> Any:  # noqa: A002 - as it is there
        del config
        assert self.func is not None
        return self.func(**self._checked(input))

    async def ainvoke(self, input: Mapping[str, Any], config: Any = None) -> Any:  # noqa: A002 - as it is there
        del config
        assert self.coroutine is not None
        return await self.coroutine(**self._checked(input))

    def _run(self, *args: Any, config: Any, run_manager: Any = None, **kwargs: Any) -> Any:
        raise AssertionError("invoke is the way in")

    def _checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        if isinstance(self.args_schema, type) and issubclass(self.args_schema, BaseModel):
            read = self.args_schema.model_validate(given)
            return {key: getattr(read, key) for key in given}
        return dict(given)


class ByBody:
    """A subclass of LangChain's `BaseTool` without a schema: its `_run` says what it takes."""

    name = "mean"
    description = "The mean of a column."
    args_schema = None

    def _run(self, column: str, digits: int = 2, run_manager: Any = None) -> float:
        """Compute.

        Args:
            column: its name
            digits: after the point
        """
        del run_manager
        return round(len(column) / 3, digits)


def search(text: str, kind: str = "news", limit: int = 3) -> str:
    if text == "private":
        raise ToolException("Look for something else.")
    return f"{limit} {kind} about {text}"


async def later(text: str) -> str:
    return f"{text}, later, in {threading.current_thread() is not None}"
