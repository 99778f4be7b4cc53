"""Messages, calls, usage and tool schemas as plain JSON and back, and the reading of single keys.

A key that has its default is not written. It must not let a key pass that it does not know: what
is not read would be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar, cast, get_args

from agent_magic.core.form.image import is_image
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

Form = dict[str, Value]
_T = TypeVar("_T")
_ROLES: dict[Value, Role] = {role: role for role in get_args(Role)}
_PLAIN = ValueReader()
_END_OF_TIME = 253_402_300_000


# -- single keys -----------------------------------------------------------------------------


def check_keys(form: Value, known: frozenset[str]) -> None:
    """Refuse what is no dict, or has keys that are not known.

    Raises:
        UnreadableError: Here and in all functions below.
    """
    if type(form) is not dict:
        raise UnreadableError(form, "a dict")
    if not form.keys() <= known:
        key = min(map(str, form.keys() - known))
        raise UnreadableError(form.get(key), f"one of the keys {', '.join(sorted(known))}", key)


def read_text(form: Form, key: str, default: str = "") -> str:
    """The text at `key`."""
    text = form.get(key, default)
    if type(text) is str:
        return text
    return _read_marked_text(text, key)


def read_name(form: Form, key: str) -> str | None:
    """The text at `key`, or None if there is none."""
    text = form.get(key)
    if text is None or type(text) is str:
        return text
    return _read_marked_text(text, key)


def need_text(form: Form, key: str) -> str:
    """The text at `key`, which must be there."""
    if key not in form:
        raise UnreadableError(None, "text", key)
    return read_text(form, key)


def read_count(form: Form, key: str, default: int | None = None) -> int:
    """The whole number from 0 on at `key`; without a default it must be there."""
    number = form.get(key, default)
    if type(number) is int and number >= 0:
        return number
    raise UnreadableError(number, "a whole number from 0 on", key)


def read_flag(form: Form, key: str, *, default: bool = False) -> bool:
    """The bool at `key`."""
    flag = form.get(key, default)
    if flag is True or flag is False:
        return flag
    raise UnreadableError(flag, "true or false", key)


def read_number(form: Form, key: str) -> float:
    """The number at `key`, which must be there."""
    number = _PLAIN.read(form.get(key))
    if type(number) is float or type(number) is int:
        return number
    raise UnreadableError(number, "a number", key)


def read_moment(form: Form, key: str) -> float:
    """The moment at `key`, in seconds since 1970, before the year 10000."""
    number = read_number(form, key)
    if 0 <= number < _END_OF_TIME:
        return number
    raise UnreadableError(number, "seconds since 1970", key)


def read_choice(form: Form, key: str, choices: Mapping[Value, _T]) -> _T:
    """What one of a few words at `key` stands for."""
    word = form.get(key)
    if type(word) is str and word in choices:
        return choices[word]
    raise UnreadableError(word, f"one of {', '.join(map(str, choices))}", key)


def read_part(form: Form, key: str, read: Callable[[Value], _T]) -> _T | None:
    """What `read` makes of the part at `key`, or None if there is none."""
    if key not in form:
        return None
    try:
        return read(form[key])
    except UnreadableError as error:
        raise error.within(key) from error.__cause__


def read_each(form: Form, key: str, read: Callable[[Value], _T]) -> tuple[_T, ...]:
    """What `read` makes of each part of the list at `key`; nothing if there is none."""
    if key not in form:
        return ()
    parts = form[key]
    if type(parts) is not list:
        raise UnreadableError(parts, "a list", key)
    done: list[_T] = []
    try:
        for part in cast("list[Value]", parts):
            done.append(read(part))  # noqa: PERF401 - its length tells which part could not be read
    except UnreadableError as error:
        raise error.within(f"{key}[{len(done)}]") from error.__cause__
    return tuple(done)


def read_line(form: Value) -> str:
    """A text in a list."""
    if type(form) is str:
        return form
    return _read_marked_text(form, "")


def _read_marked_text(form: Value, key: str) -> str:
    """A text with lone surrogates."""
    if type(form) is dict and form.get(MARK) == "str":
        return _PLAIN.read(form)
    raise UnreadableError(form, "text", key)


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


def read_images(form: Form, reader: ValueReader) -> tuple[ImagePart, ...]:
    """The images at the key `images`."""
    return read_each(form, "images", lambda part: _read_image(part, reader))


def _read_image(form: Value, reader: ValueReader) -> ImagePart:
    check_keys(form, _IMAGE_PART)
    image = read_part(form, "image", reader.read)
    if not is_image(image):
        raise UnreadableError(image, "an image", "image")
    return ImagePart(image=image, name=read_name(form, "name"))


def write_call(call: ToolCall, writer: ValueWriter) -> Form:
    """Id, name and arguments, these as a mapping or as the text of a reply."""
    form: Form = {"id": write_text(call.id), "name": write_text(call.name)}
    arguments = call.arguments
    if arguments is not None:
        is_mapping = isinstance(arguments, Mapping) and type(arguments) is not dict
        form["arguments"] = writer.write(
            dict(cast("Mapping[str, Value]", arguments)) if is_mapping else arguments
        )
    return form


def read_call(form: Value, reader: ValueReader) -> ToolCall:
    """The call."""
    check_keys(form, _CALL)
    arguments = read_part(form, "arguments", reader.read)
    if arguments is not None and type(arguments) is not dict and type(arguments) is not str:
        raise UnreadableError(arguments, "a dict, or text", "arguments")
    return ToolCall(id=need_text(form, "id"), name=need_text(form, "name"), arguments=arguments)


def write_usage(usage: TokenUsage, writer: ValueWriter) -> Form:
    """The figures that are known."""
    return {name: writer.write(figure) for name, figure in usage.to_dict().items() if figure is not None}


def read_usage(form: Value) -> TokenUsage:
    """The usage."""
    check_keys(form, _USAGE)
    return TokenUsage(**{name: read_number(form, name) for name in form})  # pyright: ignore[reportArgumentType] - a count is written as one


def read_signed(form: Form, reader: ValueReader) -> dict[str, Value] | None:
    """The mapping at the key `signed`, or None if there is none."""
    signed = read_part(form, "signed", reader.read)
    if signed is not None and type(signed) is not dict:
        raise UnreadableError(signed, "a dict", "signed")
    return signed


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
        images=read_images(form, reader),
        tool_calls=read_each(form, "tool_calls", lambda call: read_call(call, reader)),
        tool_call_id=read_name(form, "tool_call_id"),
        is_error=read_flag(form, "is_error"),
        is_ours=read_flag(form, "is_ours"),
        reasoning=read_name(form, "reasoning"),
        usage=read_part(form, "usage", read_usage),
        finish_reason=read_name(form, "finish_reason"),
        signed=read_signed(form, reader),
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
_CALL = frozenset({"id", "name", "arguments"})
_USAGE = frozenset(TokenUsage().to_dict())
_MESSAGE = frozenset(ChatMessage.__dataclass_fields__)
_SCHEMA = frozenset(ToolSchema.__dataclass_fields__)
_EXAMPLE = frozenset(ToolExample.__dataclass_fields__)
