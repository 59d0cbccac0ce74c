"""What may be asked of a slice, looked at where it comes in; needs nothing of what makes one."""

from __future__ import annotations

from depslice.callgraph.arguments import (
    check_flag,
    check_member,
    check_number,
    check_program,
    check_text,
    check_texts,
)
from depslice.callgraph.errors import OptionError
from depslice.callgraph.model import Certainty
from depslice.slicer.model import GUESSES
from depslice.slicer.tokens import ESTIMATE


def check_slicing(
    program: object,
    targets: object,
    *,
    depth: object = None,
    budget: object = None,
    whole_classes: object = False,
    observed: object = (),
    spelled: object = (),
    tokenizer: object = ESTIMATE,
    least: object = Certainty.POSSIBLE,
    guesses: object = GUESSES,
) -> tuple[int | None, int | None]:
    """See that what is to be sliced, and how, are what :func:`~depslice.slicer.slicing.slice_symbols` takes.

    Gives depth and budget, as numbers of the type ``int``.

    :raises OptionError: they are not.
    """
    check_program(program)
    check_texts("targets", targets, "a list of ids, such as ['pkg.mod:f']")
    if not targets:
        raise OptionError("no target to slice")
    bounds = check_number("depth", depth, least=0), check_number("budget", budget, least=1)
    check_flag("whole_classes", whole_classes)
    check_texts("observed", observed, "a list of ids, such as ['pkg.mod:f']")
    check_texts("spelled", spelled, "a list of names, such as ['pkg:Name']")
    check_text("tokenizer", tokenizer)
    check_member("least", least, Certainty)
    check_number("guesses", guesses, least=0)
    return bounds
