"""The types of options, all commands together."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import click
import pytest

from depslice.cli.app import app
from depslice.cli.numbers import Guesses, Number, Whole
from depslice.cli.options import Command
from depslice.slicer.model import GUESSES


def every_option() -> Iterator[click.Option]:
    context = click.Context(app)
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        assert command is not None
        yield from (each for each in command.params if isinstance(each, click.Option))


def every_command() -> list[Command]:
    context = click.Context(app)
    commands = [app.get_command(context, name) for name in app.list_commands(context)]
    return [each for each in commands if isinstance(each, Command)]


def test_the_examples_of_the_help_are_what_their_commands_take() -> None:
    shown = [(command, example) for command in every_command() for example in command.examples]
    assert len({command.name for command, _ in shown}) > 12
    for command, example in shown:
        program, name, *arguments = shlex.split(example)
        assert (program, name) == ("depslice", command.name)
        command.make_context(name, arguments)
        with click.Context(command, info_name=name) as context:
            assert f"  {example}\n" in command.get_help(context) + "\n"


def test_every_command_but_those_without_arguments_has_examples() -> None:
    lacking = {each.name for each in every_command() if not each.examples}
    assert lacking == {"doctor", "trace"}  # that of trace stand above


def numbers() -> list[click.ParamType]:
    found = (click.types.IntParamType, click.types.FloatParamType)
    return [each.type for each in every_option() if isinstance(each.type, found)]


def test_every_number_is_one_of_ours() -> None:
    """Click's let nan through, and cut 2.7 down to 2."""
    assert len(numbers()) > 40
    assert {type(each) for each in numbers()} == {Number, Whole, Guesses}


def test_as_many_guesses_as_slices_follow() -> None:
    """The command line has that number by itself, as it reads nothing of slices to show a help."""
    defaults = [each.default for each in every_option() if each.name == "guesses"]
    assert defaults == [str(GUESSES)] * 2  # of `slice` and `why`
    assert Guesses().convert("any", None, None) is None


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "NaN", float("nan"), float("inf")])
def test_no_option_takes_what_is_not_finite(value: object) -> None:
    for each in numbers():
        with pytest.raises(click.BadParameter, match=r"is not a (finite|whole) number"):
            each.convert(value, None, None)


@pytest.mark.parametrize(
    ("kind", "value", "told"),
    [
        (Number(0, 1), True, "true is not a number"),
        (Number(0, 1), "much", "much is not a number"),
        (Number(0, 1), "1.5", "1.5 is not in the range 0<=x<=1"),
        (Whole(min=1), "1e9", "1e9 is not a whole number, written in digits"),
        (Whole(min=1), 2.7, "2.7 is not a whole number"),
        (Whole(min=1), False, "false is not a whole number"),
        (Whole(min=1), "0", "0 is not in the range x>=1"),
    ],
)
def test_what_is_wrong_with_a_number(kind: click.ParamType, value: object, told: str) -> None:
    with pytest.raises(click.BadParameter, match=f"^{told}"):
        kind.convert(value, None, None)


def test_numbers_are_taken_as_they_are_written() -> None:
    assert Number(0, 1).convert("0.8", None, None) == 0.8
    assert Number(min=0).convert(3, None, None) == 3.0
    assert Whole().convert("-7", None, None) == -7
    assert Whole(min=1).convert(5.0, None, None) == 5
