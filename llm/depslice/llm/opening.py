"""From the name of a model to the port: the stack of layers, in one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from depslice.callgraph.errors import OptionError
from depslice.llm.cache import Cached, Mode, Store, completions_directory
from depslice.llm.caps import Capped, Caps, Ledger
from depslice.llm.clock import RealClock
from depslice.llm.pacing import Pace, Paced
from depslice.llm.prices import FREE, ListedPrice, Price, Tokens, UnknownPrice
from depslice.llm.providers.endpoint import Endpoint, check_base_url, key_from_environment
from depslice.llm.request import Source
from depslice.llm.retrying import Patience, Retrying
from depslice.llm.sampling import OpenModel

_KEYS: Final = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
_CONCURRENCY: Final = 4
_TIMEOUT: Final = 600.0
_LOCAL_TIMEOUT: Final = 3600.0
_ELSEWHERE: Final = "DEPSLICE_API_KEY"
"""The key for a base URL: a provider's own key is never sent to somebody else by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """How a model is reached, and what it may cost.

    ``base_url``: an endpoint other than the provider's own. ``key_variable``: the environment
    variable with its key. ``price``: None is the list price. ``completions``: the folder of
    recorded answers, None the default one. ``threads`` and ``context`` (tokens) are those
    of a local model, ``timeout`` is in seconds for one answer: 600, and 3600 for a local model.
    ``dry``: nothing will be asked, so no key is needed. ``say`` is told, in a line, when what
    failed is asked again.
    """

    base_url: str = ""
    key_variable: str = ""
    price: Price | None = None
    mode: Mode = Mode.USE
    completions: Path | None = None
    pace: Pace = field(default_factory=Pace)
    patience: Patience = field(default_factory=Patience)
    caps: Caps = field(default_factory=Caps)
    timeout: float | None = None
    threads: int = 1
    context: int = 12288
    dry: bool = False
    say: Callable[[str], None] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Provider:
    """A source that was not asked anything yet, what its answers cost, and how to end it."""

    source: Source
    price: Price
    concurrency: int
    close: Callable[[], None]


def open_model(spec: str, settings: ModelSettings | None = None) -> OpenModel:
    """The model that ``spec`` names: nothing is sent, started or imported yet.

    ``openai:NAME``, ``anthropic:NAME``, ``local:PATH.gguf``, or ``NAME`` with a base URL
    (chat completions as OpenAI has them).

    :raises OptionError: it names nothing, or the settings make no sense together.
    :raises Unauthorized: there is no key; replays, and what asks nothing, need none.
    :raises ModelUnavailable: no such model file.
    """
    settings = settings or ModelSettings()
    provider = _provider(spec, settings)
    if settings.caps.dollars is not None and _is_unknown(provider.price):
        raise OptionError(
            f"a cap in dollars needs a price, and that of {spec!r} is not known",
            hint="--price INPUT/OUTPUT, dollars for a million tokens",
        )
    ledger = Ledger(settings.caps, scope="run")
    clock = RealClock()
    source: Source = Paced(
        provider.source,
        settings.pace,
        concurrency=provider.concurrency,
        patience=settings.patience.seconds,
        clock=clock,
    )
    source = Retrying(source, settings.patience, clock, say=settings.say)
    source = Capped(source, ledger, provider.price, replayed=False)
    if settings.mode is not Mode.OFF:
        store = Store(settings.completions or completions_directory())
        source = Cached(source, store, settings.mode)
    return OpenModel(
        source,
        price=provider.price,
        ledger=ledger,
        concurrency=provider.concurrency,
        close=provider.close,
    )


def _provider(spec: str, settings: ModelSettings) -> _Provider:
    kind, colon, name = spec.partition(":")
    if colon and kind == "local" and name:
        return _local(name, settings)
    if colon and kind in _KEYS and name:
        return _remote(kind, name, settings)
    if spec and settings.base_url:
        return _remote("", spec, settings)
    raise OptionError(
        f"{spec!r} names no model: openai:NAME, anthropic:NAME, local:PATH.gguf,"
        " or NAME with --base-url"
    )


def _local(name: str, settings: ModelSettings) -> _Provider:
    from depslice.llm.providers.local import LocalSource, local_name

    path = Path(name)
    concurrency = settings.pace.concurrency or 1
    replayed = settings.mode is Mode.REPLAY and "#" in name and not path.exists()
    source = LocalSource(
        f"local:{name}" if replayed else local_name(path),
        path,
        threads=settings.threads,
        context=settings.context,
        slots=concurrency,
        timeout=settings.timeout or _LOCAL_TIMEOUT,
    )
    return _Provider(
        source=source,
        price=settings.price or FREE,
        concurrency=concurrency,
        close=source.close,
    )


def _remote(kind: str, model: str, settings: ModelSettings) -> _Provider:
    from depslice.llm.providers.anthropic_source import AnthropicSource
    from depslice.llm.providers.openai_source import OpenAISource

    speaks = AnthropicSource if kind == "anthropic" else OpenAISource
    base_url = check_base_url(settings.base_url) if settings.base_url else ""
    variable = settings.key_variable or (_ELSEWHERE if base_url else _KEYS[kind])
    silent = settings.dry or settings.mode is Mode.REPLAY
    needed = not silent and (bool(settings.key_variable) or not base_url)
    endpoint = Endpoint(
        url=base_url or speaks.official,
        model=model,
        key=key_from_environment(variable, needed=needed),
        timeout=settings.timeout or _TIMEOUT,
    )
    name = f"{kind}:{model}" if kind else model
    name = f"{name}@{base_url}" if base_url else name
    listed = UnknownPrice() if base_url else ListedPrice(provider=kind, model=model)
    price = settings.price or listed
    source = speaks(name, endpoint, price)
    return _Provider(
        source=source,
        price=price,
        concurrency=settings.pace.concurrency or _CONCURRENCY,
        close=source.close,
    )


def _is_unknown(price: Price) -> bool:
    return price.dollars(Tokens(input=1, output=1)) is None
