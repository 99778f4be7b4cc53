"""Messages, calls, usage and tool schemas as plain JSON and back.

A key that has its default is not written. It must not know who sent a message, or when.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast, get_args

from agent_magic.core.form.image import is_image
from agent_magic.core.form.keys import (
    Form,
    ReadPart,
    check_keys,
    each,
    need_text,
    read_choice,
    read_each,
    read_fields,
    read_flag,
    read_name,
    read_number,
    read_part,
    read_text,
    to_text,
)
from agent_magic.core.form.value import MARK, UnreadableError, ValueReader, ValueWriter, write_text
from agent_magic.core.messages import (
    ChatMessage,
    ImagePart,
    Role,
    TokenUsage,
    ToolCall,
    ToolExample,
    ToolSchema,
)
from agent_magic.core.values import Value

_ROLES: dict[Value, Role] = {role: role for role in get_args(Role)}


# -- images, calls, usage --------------------------------------------------------------------


def write_images(parts: Iterable[ImagePart], writer: ValueWriter) -> list[Form]:
    """The images, once each for all their places, and the variables that hold them.

    One whose file turns out broken is left out: no model could be sent it.
    """
    forms: list[Form] = []
    for part in parts:
        image = writer.write(part.image, part.name)
        if type(image) is dict and image.get(MARK) == "image":
            forms.append(
                {"image": image} if part.name is None else {"image": image, "name": write_text(part.name)}
            )
    return forms


def _read_image(form: Value, reader: ValueReader) -> ImagePart:
    check_keys(form, _IMAGE_PART)
    image = read_part(form, "image", reader.read)
    if not is_image(image):
        raise UnreadableError(image, "an image", "image")
    return ImagePart(image=image, name=read_name(form, "name"))


read_images = each(_read_image)
"""The images that `write_images` wrote."""


def write_call(call: ToolCall, writer: ValueWriter) -> Form:
    """Id, name and arguments, these as a mapping or as the text of a reply."""
    form: Form = {"id": write_text(call.id), "name": write_text(call.name)}
    arguments = call.arguments
    if arguments is not None:
        is_mapping = type(arguments) is not dict and isinstance(arguments, Mapping)
        form["arguments"] = writer.write(
            dict(cast("Mapping[str, Value]", arguments)) if is_mapping else arguments
        )
    return form


def read_call(form: Value, reader: ValueReader) -> ToolCall:
    """The call."""
    return to_call(read_fields(form, CALL_FIELDS, reader, needed=NEEDED_OF_CALL))


def to_call(parts: Form) -> ToolCall:
    """The call whose parts were read; they are taken out."""
    return ToolCall(id=parts.pop("id"), name=parts.pop("name"), arguments=parts.pop("arguments", None))


def _to_arguments(form: Value, reader: ValueReader) -> dict[str, Value] | str:
    arguments = reader.read(form)
    if type(arguments) is dict or type(arguments) is str:
        return arguments
    raise UnreadableError(arguments, "a dict, or text")


CALL_FIELDS: dict[str, ReadPart[Value]] = {"id": to_text, "name": to_text, "arguments": _to_arguments}
"""How each key of a call is read."""
NEEDED_OF_CALL = ("id", "name")


def write_usage(usage: TokenUsage, writer: ValueWriter) -> Form:
    """The figures that are known."""
    return {
        name: figure if type(figure) is int else writer.write(figure)
        for name, figure in usage.to_dict().items()
        if figure is not None
    }


def read_usage(form: Value, _reader: ValueReader | None = None) -> TokenUsage:
    """The usage."""
    check_keys(form, _USAGE)
    if not set(map(type, form.values())) <= _NUMBERS:
        form = {name: read_number(form, name) for name in form}
    return TokenUsage(**form)


def read_signed(form: Value, reader: ValueReader) -> dict[str, Value]:
    """What a provider signed."""
    signed = reader.read(form)
    if type(signed) is dict:
        return signed
    raise UnreadableError(signed, "a dict")


# -- messages and schemas --------------------------------------------------------------------


def write_message(message: ChatMessage, writer: ValueWriter) -> Form:
    """A message of a request."""
    form: Form = {"role": message.role}
    for name in ("content", "tool_call_id", "reasoning", "finish_reason"):
        text = getattr(message, name)
        if text is not None:
            form[name] = write_text(text)
    if message.images:
        form["images"] = write_images(message.images, writer)
    if message.tool_calls:
        form["tool_calls"] = [write_call(call, writer) for call in message.tool_calls]
    if message.is_error:
        form["is_error"] = True
    if message.is_ours:
        form["is_ours"] = True
    if message.usage is not None:
        form["usage"] = write_usage(message.usage, writer)
    if message.signed is not None:
        form["signed"] = writer.write(dict(message.signed))
    return form


def read_message(form: Value, reader: ValueReader) -> ChatMessage:
    """The message."""
    check_keys(form, _MESSAGE)
    return ChatMessage(
        role=read_choice(form, "role", _ROLES),
        content=read_name(form, "content"),
        images=read_part(form, "images", lambda parts: read_images(parts, reader)) or (),
        tool_calls=read_each(form, "tool_calls", lambda call: read_call(call, reader)),
        tool_call_id=read_name(form, "tool_call_id"),
        is_error=read_flag(form, "is_error"),
        is_ours=read_flag(form, "is_ours"),
        reasoning=read_name(form, "reasoning"),
        usage=read_part(form, "usage", read_usage),
        finish_reason=read_name(form, "finish_reason"),
        signed=read_part(form, "signed", lambda part: read_signed(part, reader)),
    )


def write_schema(schema: ToolSchema, writer: ValueWriter) -> Form:
    """What a model was told of a tool."""
    form: Form = {
        "name": write_text(schema.name),
        "description": write_text(schema.description),
        "parameters": writer.write(dict(schema.parameters)),
    }
    if schema.examples:
        form["examples"] = [
            {"task": write_text(example.task), "arguments": writer.write(dict(example.arguments))}
            for example in schema.examples
        ]
    return form


def read_schema(form: Value, reader: ValueReader) -> ToolSchema:
    """The schema."""
    check_keys(form, _SCHEMA)
    return ToolSchema(
        name=need_text(form, "name"),
        description=read_text(form, "description"),
        parameters=_read_mapping(form, "parameters", reader),
        examples=read_each(form, "examples", lambda example: _read_example(example, reader)),
    )


def _read_example(form: Value, reader: ValueReader) -> ToolExample:
    check_keys(form, _EXAMPLE)
    return ToolExample(task=need_text(form, "task"), arguments=_read_mapping(form, "arguments", reader))


def _read_mapping(form: Form, key: str, reader: ValueReader) -> Mapping[str, Value]:
    mapping = read_part(form, key, reader.read)
    if type(mapping) is dict:
        return mapping
    raise UnreadableError(mapping, "a dict", key)


_IMAGE_PART = frozenset({"image", "name"})
_NUMBERS = frozenset({int, float})
_USAGE = frozenset(TokenUsage().to_dict())
_MESSAGE = frozenset(ChatMessage.__dataclass_fields__)
_SCHEMA = frozenset(ToolSchema.__dataclass_fields__)
_EXAMPLE = frozenset(ToolExample.__dataclass_fields__)
