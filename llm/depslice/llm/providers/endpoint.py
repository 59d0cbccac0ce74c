"""Where a model is, and the key for it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from depslice.callgraph.errors import OptionError
from depslice.llm.port import Unauthorized

_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A model at a base URL. ``timeout`` is in seconds, for one request.

    The key is not part of what is shown of it.
    """

    url: str
    model: str
    key: str = field(repr=False)
    timeout: float

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine: proxies of the environment are not for it."""
        return urlsplit(self.url).hostname in _LOCAL


def check_base_url(url: str) -> str:
    """``url`` without a slash at its end.

    :raises OptionError: it is no URL, or has secrets in it: it goes into caches and reports.
    """
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise OptionError(
            "--base-url is no URL that begins with http:// or https://",
            hint="such as http://127.0.0.1:8000/v1",
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise OptionError(
            "--base-url must hold no user, password or query: it is written to caches",
            hint="keys are read from the environment: --key-variable",
        )
    return url.rstrip("/")


def key_from_environment(variable: str, *, needed: bool) -> str:
    """The value of an environment variable.

    :raises Unauthorized: it is ``needed``, and not there; or it cannot be a key.
    """
    key = os.environ.get(variable, "").strip()
    if not key and needed:
        raise Unauthorized(f"the environment has no {variable}", hint=f"export {variable}=...")
    if key and not (key.isascii() and key.isprintable()):
        raise Unauthorized(f"{variable} is no key: it has characters that no header may have")
    return key
