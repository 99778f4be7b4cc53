"""Every dialect, in the order of the table."""

from __future__ import annotations

from tests.providers.anthropic_form import Anthropic
from tests.providers.bedrock_form import Bedrock
from tests.providers.dialect import Dialect
from tests.providers.gemini_form import Gemini
from tests.providers.ollama_form import Ollama
from tests.providers.openai_form import (
    MLX,
    VLLM,
    Azure,
    Compatible,
    Groq,
    HuggingFace,
    OpenAIForm,
    OpenRouter,
)

DIALECTS: tuple[Dialect, ...] = (
    OpenAIForm(),
    Compatible(),
    Azure(),
    Anthropic(),
    Bedrock(),
    HuggingFace(),
    Gemini(),
    Groq(),
    Ollama(),
    OpenRouter(),
    VLLM(),
    MLX(),
)
