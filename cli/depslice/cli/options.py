"""Options that several commands share, each group packed into one value."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from depslice.cli.defaults import defaults_for, refuse_default
from depslice.cli.numbers import Guesses, Whole

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_Function = TypeVar("_Function", bound=Callable[..., None])
_AS_FOLDERS = frozenset({"tree", "files"})
"""Formats of which ``-o`` names a folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """What to analyse, and how to read it."""

    path: str
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    respect_gitignore: bool
    use_cache: bool
    python: str | None
    workers: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where the result goes (``None``: standard output), and how much is said beside it."""

    path: str | None
    quiet: bool
    verbose: bool
    color: bool  # whether colours are wanted where there is a terminal


class Command(click.Command):
    """A command whose defaults ``pyproject.toml`` may set."""

    takes_defaults = True

    def __init__(self, *args: Any, examples: Sequence[str] = (), **more: Any) -> None:
        """``examples`` are command lines, which ``--help`` shows at its end."""
        super().__init__(*args, **more)
        self.examples = examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """As Click's, and the examples, which are not wrapped: they are to be copied."""
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{example}\n")

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """As Click's, with the file's defaults below what the command line says."""
        # An option of the file must not keep `--help` from being shown, nor the shell from completing.
        if not {"-h", "--help"} & set(args) and not extra.get("resilient_parsing"):
            extra.setdefault("default_map", defaults_for(self, parent))
        return super().make_context(info_name, args, parent, **extra)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As Click's; all mistakes say whose they are: which help to see, or of which file."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            option = error.param if isinstance(error, click.BadParameter) else None
            source = option and option.name and ctx.get_parameter_source(option.name)
            if isinstance(option, click.Option) and source is ParameterSource.DEFAULT_MAP:
                refuse_default(ctx, option, error.message)
            error.ctx = error.ctx or ctx
            raise


def with_options(
    function: Callable[..., None], options: Sequence[Callable[[Any], Any]]
) -> Callable[..., None]:
    """``function`` with ``options``, which ``--help`` lists in the order given.

    As if they were written above it: the last one is applied first.
    """
    for option in reversed(options):
        function = option(function)
    return function


def repository_options(function: _Function) -> Callable[..., None]:
    """Add REPO and how to read it; the command gets ``repository``."""

    @click.argument("repo", type=click.Path(readable=False))  # told by who reads it
    @click.option(
        "--include",
        multiple=True,
        metavar="PATTERN",
        help="Analyse what is left out by default (a gitignore pattern).",
    )
    @click.option(
        "--exclude",
        multiple=True,
        metavar="PATTERN",
        help="Leave out more (a gitignore pattern); wins over --include.",
    )
    @click.option("--no-gitignore", is_flag=True, help="Analyse what .gitignore leaves out.")
    @click.option("--no-cache", is_flag=True, help="Neither read nor write the cache.")
    @click.option(
        "--python",
        type=click.Path(),
        metavar="PATH",
        help="An interpreter or environment whose installed packages tell types; never run.",
    )
    @click.option(
        "--workers",
        type=Whole(min=1),
        metavar="N",
        help="Processes for files not in the cache.  [default: one per core]",
    )
    @functools.wraps(function)
    def packed(
        *,
        repo: str,
        include: tuple[str, ...],
        exclude: tuple[str, ...],
        no_gitignore: bool,
        no_cache: bool,
        python: str | None,
        workers: int | None,
        **rest: Any,
    ) -> None:
        repository = Repository(
            path=repo,
            include=include,
            exclude=exclude,
            respect_gitignore=not no_gitignore,
            use_cache=not no_cache,
            python=python,
            workers=workers,
        )
        function(repository=repository, **rest)

    return packed


def complete_target(
    context: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """What the shell may complete a TARGET to."""
    from depslice.cli.completing import targets_like

    return targets_like(context, incomplete)


def complete_names(
    names: Callable[[], Iterable[str]],
) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """What the shell may complete a name of something built in, or of a plug-in, to."""

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from depslice.cli.completing import names_like

        return names_like(names, incomplete)

    return complete


def target_argument(
    name: str = "target", *, nargs: int = 1, required: bool = True, metavar: str | None = None
) -> Callable[[_Function], _Function]:
    """Add a TARGET, or several, of REPO."""
    return click.argument(
        name, nargs=nargs, required=required, metavar=metavar, shell_complete=complete_target
    )


def format_option(*formats: str, help: str | None = None) -> Callable[[_Function], _Function]:  # noqa: A002
    """Add ``--format``, by default the first of ``formats``; the command gets ``format_``."""
    return click.option(
        "--format",
        "format_",
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        help=help,
    )


def whole_classes_option(function: _Function) -> _Function:
    """Add ``--whole-classes``."""
    return click.option("--whole-classes", is_flag=True, help="Keep all members of classes.")(
        function
    )


def guesses_option(function: _Function) -> _Function:
    """Add ``--guesses``."""
    return click.option(
        "--guesses",
        type=Guesses(),
        default="1",  # as in `depslice.slicer.model`, which is not read for this
        show_default=True,
        metavar="N",
        help="Follow so many guesses in a row, such as which method of a receiver nobody knows; "
        "any: all there are.",
    )(function)


def tests_options(function: _Function) -> _Function:
    """Add ``--tests`` and ``--test-seconds``: what is recorded."""
    seconds = click.option(
        "--test-seconds",
        type=Whole(min=1),
        default=600,
        show_default=True,
        metavar="N",
        help="The limit for running them all, once.",
    )
    return click.option(
        "--tests",
        multiple=True,
        type=click.Path(),
        metavar="PATH",
        help="Tests to record, as pytest names them.  [default: REPO's]",
    )(seconds(function))


def tokenizer_option(*, default: str | None) -> Callable[[_Function], _Function]:
    """Add ``--tokenizer``; without a ``default`` it is the best one that is installed."""
    return click.option(
        "--tokenizer",
        type=click.Choice(["o200k_base", "cl100k_base", "characters/4"]),
        default=default,
        show_default=default is not None,
        help="What counts tokens. Byte pairs need the extra depslice[tokens]."
        + ("  [default: o200k_base if installed, else characters/4]" if default is None else ""),
    )


def output_options(function: _Function, *, default: str = "standard output") -> Callable[..., None]:
    """Add where to write and how much to say; the command gets ``output``.

    ``default`` is where it goes without ``-o``, as the help says it.
    """

    @click.option(
        "-o",
        "--output",
        "output_path",
        type=click.Path(),
        metavar="PATH",
        help=f"Write the result there, whole or not at all; - is standard output.  [default: {default}]",
    )
    @click.option("-q", "--quiet", is_flag=True, help="Say nothing beside the result.")
    @click.option("-v", "--verbose", is_flag=True, help="Say all there is to say.")
    @click.option("--no-color", is_flag=True, help="No colours (also by NO_COLOR).")
    @functools.wraps(function)
    def packed(
        *, output_path: str | None, quiet: bool, verbose: bool, no_color: bool, **rest: Any
    ) -> None:
        if quiet and verbose:
            raise click.UsageError("--quiet and --verbose exclude each other")
        if output_path is not None:
            from depslice.cli.results import refuse_output

            chosen = click.get_current_context().params.get("format_")
            refuse_output(output_path, is_folder=chosen in _AS_FOLDERS)
        output = Output(
            path=None if output_path == "-" else output_path,
            quiet=quiet,
            verbose=verbose,
            color=not no_color,
        )
        function(output=output, **rest)

    return packed
