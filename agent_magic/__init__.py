"""agent_magic: agents that live inside the notebook.

Importing this package loads nothing heavy: each public name is fetched when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from agent_magic.core.version import __version__

if TYPE_CHECKING:
    from agent_magic.agents.code import CodeAgent
    from agent_magic.agents.multistep import MultiStepAgent
    from agent_magic.agents.toolcalling import ToolCallingAgent
    from agent_magic.core.errors import AgentError, DefinitionError, RunError, StepError, ToolError
    from agent_magic.core.memory import AgentMemory
    from agent_magic.core.messages import ChatMessage, ToolCall
    from agent_magic.core.result import RunResult
    from agent_magic.core.state import State
    from agent_magic.core.steps import (
        ActionStep,
        FinalAnswerStep,
        MemoryStep,
        PlanningStep,
        SystemPromptStep,
        TaskStep,
    )
    from agent_magic.execution.executor import CodeExecutor
    from agent_magic.models.litellm import LiteLLMModel
    from agent_magic.models.local import LocalModel
    from agent_magic.models.model import Model
    from agent_magic.models.scripted import ScriptedModel
    from agent_magic.record.load import load
    from agent_magic.record.saved import SavedRuns
    from agent_magic.tools.decorator import tool
    from agent_magic.tools.tool import Tool

_HOMES = {
    "ActionStep": "core.steps",
    "AgentError": "core.errors",
    "AgentMemory": "core.memory",
    "ChatMessage": "core.messages",
    "CodeAgent": "agents.code",
    "CodeExecutor": "execution.executor",
    "DefinitionError": "core.errors",
    "FinalAnswerStep": "core.steps",
    "LiteLLMModel": "models.litellm",
    "LocalModel": "models.local",
    "MemoryStep": "core.memory_step",
    "Model": "models.model",
    "MultiStepAgent": "agents.multistep",
    "PlanningStep": "core.plan",
    "RunError": "core.errors",
    "RunResult": "core.result",
    "SavedRuns": "record.saved",
    "ScriptedModel": "models.scripted",
    "State": "core.state",
    "StepError": "core.errors",
    "SystemPromptStep": "core.memory_step",
    "TaskStep": "core.task",
    "Tool": "tools.tool",
    "ToolCall": "core.messages",
    "ToolCallingAgent": "agents.toolcalling",
    "ToolError": "core.errors",
    "load": "record.load",
    "tool": "tools.decorator",
}

__all__ = [
    "ActionStep",
    "AgentError",
    "AgentMemory",
    "ChatMessage",
    "CodeAgent",
    "CodeExecutor",
    "DefinitionError",
    "FinalAnswerStep",
    "LiteLLMModel",
    "LocalModel",
    "MemoryStep",
    "Model",
    "MultiStepAgent",
    "PlanningStep",
    "RunError",
    "RunResult",
    "SavedRuns",
    "ScriptedModel",
    "State",
    "StepError",
    "SystemPromptStep",
    "TaskStep",
    "Tool",
    "ToolCall",
    "ToolCallingAgent",
    "ToolError",
    "__version__",
    "load",
    "tool",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'agent_magic' has no attribute {name!r}")
    return getattr(importlib.import_module(f"agent_magic.{home}"), name)


def __dir__() -> list[str]:
    return __all__


def load_ipython_extension(ipython: Any = None) -> None:
    """Register `%%agent` and `%agent` with an IPython shell; `%load_ext agent_magic` calls this.

    Raises:
        DefinitionError: There is no shell.
    """
    if ipython is None:
        from agent_magic.core.errors import DefinitionError  # noqa: PLC0415 - only where it fails

        raise DefinitionError(
            "%%agent needs IPython: write `%load_ext agent_magic` in a notebook or in ipython."
        )
    from agent_magic.notebook import magics  # noqa: PLC0415 - plain Python must not import IPython

    magics.load(ipython)


def unload_ipython_extension(ipython: Any) -> None:
    """Take everything off the shell that `load_ipython_extension` put there."""
    from agent_magic.notebook import magics  # noqa: PLC0415 - plain Python must not import IPython

    magics.unload(ipython)


def _jupyter_labextension_paths() -> list[dict[str, str]]:  # pyright: ignore[reportUnusedFunction] - Jupyter calls it
    """Where JupyterLab's tools find the built extension, and what it is called there."""
    return [{"src": "labextension", "dest": "agent-magic"}]
