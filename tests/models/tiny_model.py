"""Models of Transformers made on the spot: one with weights by chance, one that says what it is told to.

Both have real weights, a real tokenizer of bytes and a chat template, saved as any model is.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

END, USER, ASSISTANT, REPLY = "<|end|>", "<|user|>", "<|assistant|>", "<|reply_{}|>"
TEMPLATE = (
    "{% if tools %}<|tools|>{{ tools | tojson }}<|end|>{% endif %}"
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}"
    "{% for c in m.tool_calls or [] %}<tool_call>{{ c.function.arguments | tojson }}</tool_call>{% endfor %}<|end|>"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>"
    "{% set n = messages | selectattr('role', 'equalto', 'assistant') | list | length %}"
    "<|reply_{{ n }}|>{% endif %}"
)
"""The last mark of a prompt says which turn of the assistant's is due."""
NO_TOOLS = TEMPLATE.partition("{% endif %}")[2]
NO_SYSTEM = (
    "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('No system role.') }}{% endif %}"
    "<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}{% if add_generation_prompt %}<|reply_0|>{% endif %}"
)
WINDOW = 4_096


def save_scripted(
    folder: Path, replies: Sequence[str], *, template: str | None = TEMPLATE, begins_after: str | None = None
) -> Path:
    """A model whose n-th turn is `replies[n]`: each of its tokens is followed by one other, always.

    Args:
        begins_after: The last sign of a prompt, instead of the mark that `TEMPLATE` ends with.
    """
    taken: set[str] = set()
    lines = [_cut(reply, taken) for reply in replies]
    tokenizer = _tokenizer([piece for line in lines for piece in line], len(replies), template)
    end = tokenizer.eos_token_id
    follows = dict.fromkeys(range(len(tokenizer)), end)
    for number, line in enumerate(lines):
        token = tokenizer.convert_tokens_to_ids(begins_after or REPLY.format(number))
        for piece in line:
            follows[token] = token = tokenizer.convert_tokens_to_ids(_to_bytes(piece))
        follows[token] = end
    model = _model(tokenizer, hidden=-(-len(tokenizer) // 8) * 8)
    torch = _torch()
    with torch.no_grad():
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        model.model.embed_tokens.weight.copy_(torch.eye(*model.model.embed_tokens.weight.shape))
        model.lm_head.weight.zero_()
        for token, next_token in follows.items():
            model.lm_head.weight[next_token, token] = 1.0
    return _save(model, tokenizer, folder)


def save_random(folder: Path, *, template: str | None = TEMPLATE) -> Path:
    """A model of two layers with weights by chance; it never ends by itself."""
    tokenizer = _tokenizer([], 4, template)
    model = _model(tokenizer, hidden=64)
    with _torch().no_grad():
        model.lm_head.weight[256:] = 0.0  # no marks
        model.lm_head.weight[:256] *= 20
    return _save(model, tokenizer, folder)


def _cut(text: str, taken: set[str]) -> list[str]:
    """The text in pieces of three characters or more, none of which was there before."""
    pieces: list[str] = []
    start = 0
    while start < len(text):
        size = 3
        while text[start : start + size] in taken and start + size < len(text):
            size += 1
        piece = text[start : start + size]
        start += size
        if len(piece) < 2 or piece in taken:
            taken.discard(pieces[-1])
            piece = pieces.pop() + piece
        taken.add(piece)
        pieces.append(piece)
    return pieces


def _to_bytes(text: str) -> str:
    from tokenizers import pre_tokenizers

    [(piece, _)] = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(text)
    return piece


def _tokenizer(pieces: Sequence[str], n_replies: int, template: str | None) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = [*sorted(pre_tokenizers.ByteLevel.alphabet()), *map(_to_bytes, pieces)]
    inner = Tokenizer(models.BPE(vocab={piece: place for place, piece in enumerate(vocabulary)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    inner.decoder = decoders.ByteLevel()
    marks = ["<|system|>", USER, ASSISTANT, "<|tool|>", "<|tools|>", *map(REPLY.format, range(n_replies))]
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token=END, additional_special_tokens=marks
    )
    tokenizer.chat_template = template
    return tokenizer


def _model(tokenizer: Any, *, hidden: int) -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    _torch().manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=max(len(tokenizer), hidden),
            hidden_size=hidden,
            intermediate_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=WINDOW,
            tie_word_embeddings=False,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
        )
    )


def _save(model: Any, tokenizer: Any, folder: Path) -> Path:
    with contextlib.redirect_stderr(io.StringIO()):  # bars of progress
        model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _torch() -> Any:
    import torch

    return torch
