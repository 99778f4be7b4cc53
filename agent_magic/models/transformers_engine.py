"""One model of Transformers in this process: its weights, its tokenizer, one generation at a time.

Each generation works in a thread of its own, so that whoever waits for it may stop waiting at any
moment; the thread ends with its next token. It must not know messages or tools.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import queue
import threading
import weakref
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from agent_magic.core.errors import OptionError
from agent_magic.core.flag import Flag
from agent_magic.core.threads import start_thread
from agent_magic.models.transformers_sampling import Sampling, configure, ends_of, processors_of

_WAIT_S = 0.1
_EXIT_WAIT_S = 2.0


class EngineError(Exception):
    """The model could not be loaded, or failed while it wrote."""


@dataclass(slots=True, kw_only=True, eq=False)
class Generation:
    """One generation, while it goes on and after."""

    prompt: Sequence[int]
    max_tokens: int
    sampling: Sampling
    n_cached: int = 0
    """Tokens of the prompt that were read before, for the request before this one."""
    n_written: int = 0
    is_at_limit: bool = False
    """It ended for its length."""
    is_cancelled: Flag = field(default_factory=Flag)
    has_ended: Flag = field(default_factory=Flag)
    pieces: queue.SimpleQueue[str | Exception | None] = field(
        default_factory=queue.SimpleQueue[str | Exception | None]
    )


@dataclass(frozen=True, slots=True)
class Source:
    """What is loaded, and how."""

    name: str
    """A folder or a name on the hub."""
    device: str | None
    dtype: str
    download: bool


class Engine:
    """A tokenizer and, from the first generation on, weights. Any thread may ask it."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._turn = threading.Lock()
        self._tokenizing = threading.Lock()
        self._loading = threading.Lock()
        self._kept: tuple[list[int], Any] | None = None
        """The tokens that were read and written last, and what the model made of them."""

    # -- the tokenizer -----------------------------------------------------------------------

    @property
    def tokenizer(self) -> Any:
        """The tokenizer, loaded when it is first asked for.

        Raises:
            EngineError: It cannot be loaded.
        """
        with self._loading:
            return self._tokenizer

    @cached_property
    def _tokenizer(self) -> Any:
        with _told(f"the tokenizer of {self._source.name!r} cannot be loaded"):
            return _transformers().AutoTokenizer.from_pretrained(
                self._source.name, local_files_only=not self._source.download
            )

    def encode(self, text: str) -> list[int]:
        """The tokens of a text; marks of the template in it are read as such."""
        tokenizer = self.tokenizer
        with self._tokenizing:  # a tokenizer lent to two threads at once refuses the second
            return tokenizer.encode(text, add_special_tokens=False)

    # -- generations -------------------------------------------------------------------------

    def write(self, generation: Generation) -> Generator[str, None, None]:
        """Yield what the model writes, piece by piece; closing the iterator ends it.

        An empty piece is a sign of life while nothing new has come.

        Raises:
            EngineError: The weights cannot be loaded, or the model failed.
            OptionError: An option that the model does not know.
        """
        start_thread(lambda: self._work(generation), "agent_magic_generation")
        try:
            while True:
                try:
                    piece = generation.pieces.get(timeout=_WAIT_S)
                except queue.Empty:
                    yield ""
                    continue
                if piece is None:
                    return
                if isinstance(piece, Exception):
                    raise piece
                yield piece
        finally:
            generation.is_cancelled.set()

    def _work(self, generation: Generation) -> None:
        _RUNNING.append(generation)
        try:
            self._work_in_turn(generation)
        finally:
            _RUNNING.remove(generation)
            generation.has_ended.set()

    def _work_in_turn(self, generation: Generation) -> None:
        while not self._turn.acquire(timeout=_WAIT_S):
            if generation.is_cancelled.is_set():
                return
        try:
            if not generation.is_cancelled.is_set():
                self._generate(generation)
        except (EngineError, OptionError) as error:
            generation.pieces.put(error)
        except Exception as error:  # noqa: BLE001 - whatever the library raises is for who asked
            self._kept = None
            generation.pieces.put(EngineError(f"it failed: {_first_line(error)}"))
        finally:
            self._turn.release()
            generation.pieces.put(None)

    def _generate(self, generation: Generation) -> None:
        model, torch = self._model, _torch()
        cache = self._take_cache(generation)
        tokens = torch.tensor([list(generation.prompt)], device=model.device)
        ends = ends_of(model, self.tokenizer)
        follower = _Follower(self.tokenizer, generation, torch)
        written = model.generate(
            tokens,
            attention_mask=torch.ones_like(tokens),
            generation_config=configure(model, generation.sampling, generation.max_tokens, ends),
            logits_processor=processors_of(model, generation.sampling),
            stopping_criteria=[follower],
            cache=cache,
        )[0].tolist()
        # The last token was written but not read.
        self._kept = (written[: cache.get_seq_length()], cache)
        generation.is_at_limit = generation.n_written >= generation.max_tokens and written[-1] not in ends
        if rest := follower.text.flush():
            generation.pieces.put(rest)

    def _take_cache(self, generation: Generation) -> Any:
        """What was made of the beginning that this prompt shares with what was read before, or an empty one."""
        kept, self._kept = self._kept, None
        if kept is not None:
            tokens, cache = kept
            n_shared = _count_shared(tokens, generation.prompt[:-1])  # one must be left to be read
            layers = getattr(cache, "layers", ())
            can_crop = layers and all(
                getattr(layer, "is_croppable", False) and not getattr(layer, "is_sliding", True)
                for layer in layers
            )
            if n_shared and can_crop:
                cache.crop(n_shared - len(tokens))
                generation.n_cached = n_shared
                return cache
        return _transformers().DynamicCache(config=self._model.config)

    @cached_property
    def _model(self) -> Any:
        source = self._source
        with _told(f"the model {source.name!r} cannot be loaded"), _quiet():
            model = _transformers().AutoModelForCausalLM.from_pretrained(
                source.name, local_files_only=not source.download, dtype=source.dtype
            )
            return model.to(source.device or _best_device()).eval()


def engine_of(source: Source) -> Engine:
    """The engine of this process for a source; it lives as long as somebody holds it."""
    with _LOCK:
        engine = _ENGINES.get(source)
        if engine is None:
            _ENGINES[source] = engine = Engine(source)
        return engine


_ENGINES: weakref.WeakValueDictionary[Source, Engine] = weakref.WeakValueDictionary()
_LOCK = threading.Lock()
_RUNNING: list[Generation] = []


@atexit.register
def _end_all() -> None:
    """A thread inside PyTorch at the end of the process would take the process down with an error."""
    running = _RUNNING.copy()
    for generation in running:
        generation.is_cancelled.set()
    for generation in running:
        generation.has_ended.wait(_EXIT_WAIT_S)


class _Follower:
    """Hears of each token as it is written, tells its text, and says whether to stop."""

    def __init__(self, tokenizer: Any, generation: Generation, torch: Any) -> None:
        self.text = TokenText(tokenizer)
        self._generation = generation
        self._torch = torch

    def __call__(self, tokens: Any, scores: Any, **further: Any) -> Any:
        del scores, further
        generation = self._generation
        generation.n_written += 1
        if text := self.text.feed(int(tokens[0, -1])):
            generation.pieces.put(text)
        is_cancelled = generation.is_cancelled.is_set()
        return self._torch.full(
            (tokens.shape[0],), is_cancelled, device=tokens.device, dtype=self._torch.bool
        )


class TokenText:
    """Tokens as text, as far as it is certain: a sign may take several tokens."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._tokens: list[int] = []
        self._start = self._end = 0
        """What lies between them was told, and is decoded again for what the next token makes of it."""

    def feed(self, token: int) -> str:
        """What is certain with this token."""
        self._tokens.append(token)
        return self._news(is_last=False)

    def flush(self) -> str:
        """What is left, an unfinished sign too."""
        return self._news(is_last=True)

    def _news(self, *, is_last: bool) -> str:
        told = self._decode(self._tokens[self._start : self._end])
        text = self._decode(self._tokens[self._start :])
        if text.endswith("\ufffd") and not is_last:
            return ""
        self._start, self._end = self._end, len(self._tokens)
        return text[len(told) :]

    def _decode(self, tokens: list[int]) -> str:
        return self._tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)


def _count_shared(first: Sequence[int], second: Sequence[int]) -> int:
    n = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        n += 1
    return n


def _best_device() -> str:
    torch = _torch()
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


@contextlib.contextmanager
def _told(what: str) -> Generator[None]:
    try:
        yield
    except Exception as error:  # the library's own errors have no common type
        raise EngineError(f"{what}: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


@contextlib.contextmanager
def _quiet() -> Generator[None]:
    """No bars of progress: they would be written into the cell while a run is drawn in it."""
    logging = importlib.import_module("transformers.utils.logging")
    had_bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if had_bars:
            logging.enable_progress_bar()


def _torch() -> Any:
    # Here and not at the top: seconds of import, wanted at the first request only.
    return importlib.import_module("torch")


def _transformers() -> Any:
    return importlib.import_module("transformers")  # as above
