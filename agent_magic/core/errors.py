"""The error tree: who reads each error decides what kind it is.

It must not do anything beside carrying a text: no logging, no drawing.

```
AgentError                       has .message
├── StepError                    becomes the observation, the run goes on     (reader: the model)
│   ├── ParsingError             no tool call and no code could be read in the reply
│   ├── ToolCallError            unknown tool, wrong or missing argument, unknown @reference
│   ├── ToolError                raised on purpose by a tool's author: the text is for the model
│   ├── ToolExecutionError       the tool crashed; the cause is kept as `__cause__`
│   ├── CodeExecutionError       the code crashed, or was stopped by its time limit
│   ├── CodeRefused              the guard refused the code, before or while it ran
│   ├── FinalAnswerRejected      a check of the person's said no, and why
│   └── CallRejected             a call was refused by the person, or by a failed approve_call
├── RunError                     ends the run                                 (reader: the person)
│   ├── RunNotAnswered           raised by the cell magic only; has `.result`
│   ├── GenerationError          the model failed: its id, its words, what to look at
│   ├── ApprovalError            a person is to be asked, and nobody can answer
│   └── PromptError              a template lacks a variable: file, key, variable
└── DefinitionError              before any run                               (reader: who wrote it)
    ├── ToolDefinitionError      which parameter lacks what, and what to add
    └── OptionError              a setting or option that cannot be; a `UsageError` at the magic's edge
```

A text says (1) what happened, with the value in `!r`, (2) what was expected, (3) one thing to do.
"""

from __future__ import annotations

from typing import Any


class AgentError(Exception):
    """The root of all errors of this package."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class StepError(AgentError):
    """A fault inside a step: the model is told, the step is used up, the run goes on."""


class ParsingError(StepError):
    """No tool call and no code could be read in the model's reply."""


class ToolCallError(StepError):
    """A call that cannot be made: unknown tool, wrong or missing argument, unknown reference."""


class ToolError(StepError):
    """Raise this in a tool to tell the model what to do instead; the text reaches it unchanged."""


class ToolExecutionError(StepError):
    """A tool's body raised; the original exception is `__cause__`."""


class CodeExecutionError(StepError):
    """The model's code raised, or was stopped by its time limit; the text has its own line."""


class CodeRefused(StepError):  # noqa: N818 - it names what the guard did, not a fault
    """The guard refused the model's code, or something that it did."""


class FinalAnswerRejected(StepError):  # noqa: N818 - the field's word for it, not a fault
    """A check of the person's refused the answer."""


class CallRejected(StepError):  # noqa: N818 - it names what was done, not a fault
    """A tool call was not made: the person refused it, or their `approve_call` failed."""


class RunError(AgentError):
    """A fault that ends a run."""


class RunNotAnswered(RunError):  # noqa: N818 - it names a state of the run, as the documentation does
    """A run ended without an answer. Raised by the cell magic only; Python gets a result."""

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message)
        self.result = result
        """The `RunResult`, with every step that was made."""


class GenerationError(RunError):
    """The model could not be asked, or gave no reply, after the retries that make sense."""

    def __init__(self, message: str, *, model_id: str = "") -> None:
        super().__init__(message)
        self.model_id = model_id


class ApprovalError(RunError):
    """Something waits for a person's word, and nobody is there who could give it."""


class PromptError(RunError):
    """A prompt template asks for a variable that nobody gave."""


class DefinitionError(AgentError):
    """Something was defined in a way that no run could use."""


class ToolDefinitionError(DefinitionError):
    """A callable from which no right tool could be made."""


class OptionError(DefinitionError):
    """A setting or option with a value that is not allowed."""
