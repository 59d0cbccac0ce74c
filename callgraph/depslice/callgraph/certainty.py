"""How sure a call is, from the rule that found it and from what else its site may call.

Value flow is the union over all callers: the more a site can call, the less each of it
says. What the limits are worth was measured against traces of real test suites
(``benchmarks/callgraph``): calls that are the only one of their site happened in 19 of 20
cases, those among sixteen or more in 1 of 3. The limits of *likely* are where the harmonic
mean of recall and precision is highest.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from depslice.callgraph.model import Certainty

_ANY: Final = 1 << 30


class _Limits(NamedTuple):
    """How many functions a site may call for a call to be likely.

    ``exact``: where all values at the site are known objects; ``vague``: where one of them
    may be a subclass, or is passed by callers; ``lost``: where one may be anything, so that
    nobody knows what else has met there.
    """

    vague: int
    exact: int
    lost: int = _ANY


_WRITTEN: Final = _Limits(vague=15, exact=_ANY, lost=7)
"""Calls that are written as such: someone means to call something there."""
_ASKED: Final = _Limits(vague=1, exact=3)
"""Protocols (an operator, a truth test) are asked of any object, most of which answer by
themselves; so are functions that were handed over."""
_LIMITS: Final = {
    **dict.fromkeys(
        (
            "call",
            "callable-instance",
            "class-getitem",
            "decorator",
            "descriptor",
            "dispatch",
            "field",
            "init",
            "init-subclass",
            "instance",
            "metaclass",
            "metaclass-call",
            "method",
            "new",
            "post-init",
            "set-name",
        ),
        _WRITTEN,
    ),
    "property": _Limits(vague=7, exact=_ANY),
    "property-below": _Limits(vague=0, exact=0),  # of a subclass, beside what is no property
    "partial": _Limits(vague=15, exact=15),
    "callback": _Limits(vague=1, exact=1),
    "callable-below": _Limits(vague=1, exact=1),  # any function may be such an object
    "getattr": _Limits(vague=0, exact=3),  # runs for attributes that are missing only
    "by-name": _Limits(vague=3, exact=3),
    "called-by-base": _Limits(vague=3, exact=_ANY),
    "registered": _Limits(vague=7, exact=7),  # kept elsewhere, each for a case of its own
    "handed": _Limits(vague=2, exact=2),  # called some time, perhaps
}
_LIKELY_UNSHOWN: Final = frozenset({"by-name", "callback"})
"""Likely all the same, though nothing has flowed."""
_PROVEN: Final = frozenset({"decorator", "descriptor", "method", "new"})
"""Written calls that are definite even where the receiver may be of a subclass."""


_ANSWERED: Final = frozenset(
    {
        *("__bool__", "__eq__", "__format__", "__ge__", "__getitem__", "__gt__", "__hash__"),
        *("__iter__", "__le__", "__len__", "__lt__", "__ne__", "__radd__", "__repr__", "__str__"),
    }
)
"""Special methods that objects of builtin types are asked for as well, as a rule."""


def is_asked(rule: str, method: str) -> bool:
    """Whether ``rule`` is about what any object may be asked, and answers by a ``method``."""
    return rule not in _LIMITS and method in _ANSWERED


def call_certainty(
    rule: str,
    *,
    shown: bool,
    callees: int,
    exact: bool,
    lost: bool = False,
    named: bool = False,
    mixed: bool = False,
) -> Certainty:
    """The certainty of a call that ``rule`` found.

    ``shown``: by flow or type, not by the mere fact that a function was handed over.
    ``callees``: how many functions of the repo the site may call. ``exact``: whether all
    values at the site are known objects, with no unknown and no subclass among them. ``lost``:
    whether one of them may be anything. ``named``: whether a name chooses one of them, of which
    the start or the end stands in the code: ``getattr(self, f"visit_{kind}")``. As many as
    there are, all are meant.
    ``mixed``: whether it is asked (:func:`is_asked`) of what may as well be an object of a
    builtin type, or of a part of one: of ten such calls two happened.
    """
    if mixed:
        return Certainty.POSSIBLE
    limits = _LIMITS.get(rule, _ASKED)
    most = limits.exact if exact or named else min(limits.vague, limits.lost if lost else _ANY)
    if callees > most:
        return Certainty.POSSIBLE
    if not shown:
        return Certainty.LIKELY if rule in _LIKELY_UNSHOWN else Certainty.POSSIBLE
    if callees <= 1 and (rule in _PROVEN or (exact and limits.exact == _ANY)):
        return Certainty.DEFINITE
    return Certainty.LIKELY
