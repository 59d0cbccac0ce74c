"""Builders that are template files: one file a builder, one block a message.

A block is called after the role of its message, with anything after an underscore:
``system``, ``user``, ``assistant``, ``user_again``. Blocks come in the order of the file,
and cannot be opened or closed by what the templates show: a repository's text is data. The
comment ``{# version: 2 #}`` says which version it is; without one it is the digest of the
file. ``{# hides target #}``: the context shows the target in outline only. The only module
that knows Jinja.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from depslice.callgraph.errors import DepsliceError
from depslice.prompts.model import Message, Role, Subject

if TYPE_CHECKING:
    import jinja2

_TEXTS: Final = Path(__file__).with_name("texts")
_VERSION: Final = re.compile(r"\{#-?\s*version:\s*([\w.]+)\s*-?#\}")
_HIDES: Final = re.compile(r"\{#-?\s*hides target\s*-?#\}")
_NAME: Final = re.compile(r"[A-Za-z][\w-]*")


class TemplateError(DepsliceError):
    """A template cannot be read, or is none."""

    slug = "template"


def has_template(name: str, folder: Path) -> bool:
    """Whether the user's folder has a template of that name."""
    return _NAME.fullmatch(name) is not None and (folder / f"{name}.j2").is_file()


def check_folder(folder: Path) -> None:
    """That the user's folder has templates, or parts of some, at all.

    :raises TemplateError: it has none: another one was meant, as nothing would stand in for
        anything.
    """
    if not any(chain(folder.glob("*.j2"), folder.glob("*/*.j2"))):
        raise TemplateError(
            f"there is no template in {folder}",
            hint="templates are called after builders, and their parts as they are included:"
            " equivalence.j2, parts/context.j2",
        )


class MessageTemplate:
    """The file ``NAME.j2``, looked for in ``folders``, as are the parts that it includes.

    :raises TemplateError: there is no such file, or it is no template.
    """

    def __init__(self, name: str, *folders: Path) -> None:
        import jinja2

        self.name = name
        environment = _environment(folders)
        try:
            self.source = environment.loader.get_source(environment, f"{name}.j2")[0]  # type: ignore[union-attr]
            self._template = environment.get_template(f"{name}.j2")
        except jinja2.TemplateError as error:
            raise _told(name, error) from None
        except (OSError, UnicodeDecodeError) as error:
            raise TemplateError(f"the template {name}.j2 cannot be read: {error}") from None
        self._roles = {block: _role(name, block) for block in self._template.blocks}
        if not self._roles:
            raise TemplateError(f"the template {name}.j2 has no block: {{% block user %}}")

    def messages(self, fields: Mapping[str, Any]) -> tuple[Message, ...]:
        """Its blocks with ``fields`` filled in; empty messages are left out.

        :raises TemplateError: it asks for what is not among the fields.
        """
        import jinja2

        context = self._template.new_context(dict(fields))
        try:
            texts = {
                block: "".join(render(context)).strip()
                for block, render in self._template.blocks.items()
            }
        except (jinja2.TemplateError, TypeError, ValueError, AttributeError) as error:
            raise _told(self.name, error) from None
        return tuple(
            Message(role=self._roles[block], content=text) for block, text in texts.items() if text
        )


class TemplateBuilder:
    """The builder whose messages are the blocks of ``NAME.j2``.

    The file is looked for in ``folder`` first, then among those of depslice; so are the
    parts that it includes.

    :raises TemplateError: there is no such file, or it is no template.
    """

    def __init__(self, name: str, folder: Path | None = None) -> None:
        self.name = name
        self._template = MessageTemplate(name, *([_TEXTS] if folder is None else [folder, _TEXTS]))
        source = self._template.source
        said = _VERSION.search(source)
        self.version = said[1] if said else hashlib.sha256(source.encode()).hexdigest()[:12]
        self.hides_target = _HIDES.search(source) is not None

    def build(self, subject: Subject) -> tuple[Message, ...]:
        """See :class:`~depslice.prompts.building.PromptBuilder`; empty messages are left out.

        :raises TemplateError: the template asks for what a subject has not.
        """
        return self._template.messages(
            {each: getattr(subject, each) for each in Subject.__dataclass_fields__}
        )


def _environment(folders: Sequence[Path]) -> jinja2.Environment:
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(
        loader=jinja2.FileSystemLoader(folders),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _role(template: str, block: str) -> Role:
    role = block.partition("_")[0]
    if role not in get_args(Role):
        raise TemplateError(
            f"the template {template}.j2 has a block {block!r}, which is no role:"
            f" {', '.join(get_args(Role))}"
        )
    return role  # type: ignore[return-value]


def _told(name: str, error: Exception) -> TemplateError:
    file, line = f"{name}.j2", getattr(error, "lineno", None)
    traceback = error.__traceback__ if line is None else None
    while traceback is not None:  # the innermost place in a template, or in a part of it
        template = traceback.tb_frame.f_globals.get("__jinja_template__")
        if template is not None:
            file, line = template.name, template.get_corresponding_lineno(traceback.tb_lineno)
        traceback = traceback.tb_next
    where = f"the template {file}" + (f", line {line}" if line else "")
    message = getattr(error, "message", None) or str(error)
    return TemplateError(f"{where}: {type(error).__name__}: {message}")
