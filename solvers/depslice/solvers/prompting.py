"""Prompts of solvers: template files as those of :mod:`depslice.prompts.templates`.

A file ``verify.j2`` with the blocks ``system`` and ``user`` is a prompt of two messages; a
conversation numbers its turns: ``user_1``, ``assistant_1``, ``user_2``.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

from depslice.prompts.model import Message
from depslice.prompts.templates import MessageTemplate

_SHARED: Final = Path(__file__).resolve().parent / "methods" / "templates"


class Templates:
    """The templates of a folder, and those that all solvers share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def messages(self, name: str, **values: Any) -> tuple[Message, ...]:
        """The messages of ``name``, in the order of its blocks.

        :raises TemplateError: there is no such template, or a value is missing.
        """
        return _template(name, self._folder).messages(values)


@cache
def _template(name: str, folder: Path) -> MessageTemplate:
    return MessageTemplate(name, folder, _SHARED)
