"""Prompts of solvers: template files, whose blocks are the messages.

A file ``review.j2`` with the blocks ``system`` and ``user`` is a prompt of two messages; a
conversation numbers its turns: ``user_1``, ``assistant_1``, ``user_2``. What is put into a
template is text, and cannot become a message of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from depslice.prompts.model import Message, Role

if TYPE_CHECKING:
    import jinja2

_ROLES: Final[dict[str, Role]] = {"system": "system", "user": "user", "assistant": "assistant"}


class Templates:
    """The templates of a folder, and those that all solvers share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def _environment(self) -> jinja2.Environment:
        import jinja2  # 0.1 s, and half the templates of a run are never used

        shared = Path(__file__).resolve().parent / "methods" / "templates"
        return jinja2.Environment(
            loader=jinja2.FileSystemLoader([self._folder, shared]),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,  # noqa: S701 - it is text for a model, no page
        )

    def messages(self, name: str, **values: Any) -> tuple[Message, ...]:
        """The messages of ``name``, in the order of its blocks.

        :raises jinja2.TemplateError: there is no such template, or a value is missing.
        """
        return tuple(self._messages(f"{name}.j2", values))

    def _messages(self, name: str, values: dict[str, Any]) -> Iterator[Message]:
        template = self._environment.get_template(name)
        context = template.new_context(values)
        for block, render in template.blocks.items():
            content = "".join(render(context)).strip("\n")
            yield Message(role=_ROLES[block.partition("_")[0]], content=content)
