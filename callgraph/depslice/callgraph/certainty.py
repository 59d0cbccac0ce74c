"""How sure a call is, from the rule that found it and from what else its site may call.

Value flow is the union over all callers: the more a site can call, the less each of it
says. What the limits are worth was measured against traces of real test suites
(``benchmarks/callgraph``): calls that are the only one of their site happened in 19 of 20
cases, those among sixteen or more in 1 of 3. The limits of *likely* are where the harmonic
mean of recall and precision is highest.

The other way round, the more may call a function, the less is said by each that it is they who do:
of methods that override, which one function alone may call, nine of ten such calls happened, of those
which more than eight may call, one of three. And where many functions are chosen from, as from a
table, somebody means to call each of them: of these calls too nine of ten happened, if nobody
chooses the same function from as many. So some calls are weighed last, when all are known
(:class:`Held`).
"""

from __future__ import annotations

from enum import IntFlag
from typing import Final, NamedTuple

from depslice.callgraph.model import Certainty

_ANY: Final = 1 << 30


class _Limits(NamedTuple):
    """How many functions a site may call for a call to be likely.

    ``exact``: where all values at the site are known objects; ``vague``: where one of them
    may be a subclass, or is passed by callers; ``lost``: where one may be anything, so that
    nobody knows what else has met there. ``overriding``, ``lost_overriding``: the same two for
    what overrides another of them, which is meant by fewer of those who call the other.
    """

    vague: int
    exact: int
    lost: int = _ANY
    overriding: int = _ANY
    lost_overriding: int = _ANY


_WRITTEN: Final = _Limits(vague=15, exact=_ANY, lost=7)
"""Calls that are written as such: someone means to call something there."""
_MOST_MET: Final = 7
"""So many methods that a protocol asks for, where objects there have each of them themselves."""
_MOST_NAMED: Final = 100
"""Where a name chooses among more, it is one that has been chosen before, of few."""
_ASKED: Final = _Limits(vague=1, exact=3)
"""Protocols (an operator, a truth test) are asked of any object, most of which answer by
themselves; so are functions that were handed over."""
_LIMITS: Final = {
    **dict.fromkeys(
        (
            "class-getitem",
            "context",
            "decorator",
            "descriptor",
            "dispatch",
            "field",
            "init",
            "init-subclass",
            "instance",
            "metaclass",
            "metaclass-call",
            "new",
            "post-init",
            "set-name",
        ),
        _WRITTEN,
    ),
    "call": _Limits(vague=_ANY, exact=_ANY, lost=15),
    "callable-instance": _Limits(vague=3, exact=_ANY, lost=7),
    "method": _Limits(vague=15, exact=_ANY, lost=7, overriding=4),
    "property": _Limits(vague=3, exact=_ANY, lost_overriding=1),
    "property-below": _Limits(vague=0, exact=0),  # of a subclass, beside what is no property
    "reflected": _Limits(vague=0, exact=0),  # where the left operand has the operator as well
    "partial": _Limits(vague=15, exact=15),
    "callback": _Limits(vague=1, exact=1),
    "callable-below": _Limits(vague=1, exact=1),  # any function may be such an object
    "getattr": _Limits(vague=0, exact=3),  # runs for attributes that are missing only
    "by-name": _Limits(vague=2, exact=2),
    "by-name-beside": _Limits(vague=0, exact=0),  # of what is not known, as other things there are
    "called-by-base": _Limits(vague=3, exact=_ANY),
    "registered": _Limits(vague=7, exact=7),  # kept elsewhere, each for a case of its own
    "handed": _Limits(vague=2, exact=2),  # called some time, perhaps
}
_LIKELY_UNSHOWN: Final = frozenset({"by-name", "callback"})
"""Likely all the same, though nothing has flowed."""
_REFUSED: Final = frozenset({"override", "property", "protocol"})
"""Rules by which a method is called that may be there to refuse that."""
_PROVEN: Final = frozenset({"decorator", "descriptor", "new"})
"""Written calls that are definite whatever else the receiver may be; methods are unless it is known
that something else may be there."""
_PROVEN_BELOW: Final = frozenset({"context", "init", "property"})
"""Those that are where it may be of a subclass, none of which has another."""
_PROVEN_OF_OBJECTS: Final = frozenset({"partial", "protocol"})
"""Those that are where it is one of the objects that are known there."""


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


class Standing(NamedTuple):
    """How a function stands among those that a site may call.

    ``callees``: how many they are. ``named``: whether a name chooses one of them, of which the
    start or the end stands in the code: ``getattr(self, f"visit_{kind}")``. ``own``: whether it
    is asked of ``self``: each object of a subclass asks itself. ``overriding``: whether it
    overrides another of them; ``overridden``: whether others override it, and it overrides none.
    ``refusing``: whether it only raises an error, and another does not. ``met``: whether an object
    there has it itself. ``apart``: whether no object there is known to have it: see
    :class:`~depslice.callgraph.collecting.Manner`.
    """

    callees: int
    named: bool = False
    own: bool = False
    overriding: bool = False
    overridden: bool = False
    refusing: bool = False
    apart: bool = False
    met: bool = False


class Held(IntFlag):
    """What makes a call likely, beside what is known at its site.

    ``WIDEST``: nobody else chooses that function from as many. ``SHARED``: that, or few others
    call it. ``OVERRIDING``: not very many call that method.
    """

    NOTHING = 0
    WIDEST = 1
    SHARED = 2
    OVERRIDING = 4


_CHOSEN: Final = frozenset({"call", "callable-instance", "method"})
"""Rules for calls of what may be chosen from a table."""
_SHARED: Final = frozenset({"call", "new"})
"""Rules for calls of which few happen, where they are alternatives and others call the same."""
_FEW_CALLERS: Final = 4
_SOME_CALLERS: Final = 8
_NARROW: Final = 4
"""Of a table of no more functions, each is called by most who choose from it."""
_WIDER: Final = 1.25
"""So many times as many functions are chosen from where it makes a difference."""


def held_by(rule: str, standing: Standing, certainty: Certainty, *, shown: bool) -> Held:
    """What a call that ``rule`` found depends on, which is of that ``certainty`` by itself."""
    if standing.callees <= 1 or certainty is Certainty.DEFINITE or not shown:
        return Held.NOTHING
    if certainty is Certainty.LIKELY:
        if rule in _SHARED:
            return Held.SHARED if standing.callees > _NARROW else Held.NOTHING
        return Held.OVERRIDING if rule == "method" and standing.overriding else Held.NOTHING
    if standing.apart or standing.refusing or standing.named:
        return Held.NOTHING
    crowded = rule in _CHOSEN and standing.callees > _WRITTEN.vague
    return Held.WIDEST if crowded else Held.NOTHING


def is_likely(held: Held, *, callers: int, width: int, others: int) -> bool:
    """Whether calls are likely that depend on who else calls the same.

    ``callers``: how many may, whoever is asked about among them. ``width``: from how many it is
    chosen here, ``others``: from how many at most elsewhere.
    """
    if held & Held.OVERRIDING and callers <= _SOME_CALLERS:
        return True
    if held & Held.SHARED and callers <= _FEW_CALLERS:
        return True
    return bool(held & (Held.WIDEST | Held.SHARED)) and width >= others * _WIDER


def call_certainty(
    rule: str,
    standing: Standing,
    *,
    shown: bool,
    exact: bool,
    lost: bool = False,
    mixed: bool = False,
    mingled: bool = False,
) -> Certainty:
    """The certainty of a call that ``rule`` found.

    ``shown``: by flow or type, not by the mere fact that a function was handed over. ``exact``:
    whether all values at the site are known objects, with no unknown and no subclass among
    them. ``lost``: whether one of them may be anything. ``mixed``: whether it is asked
    (:func:`is_asked`) of what may as well be an object of a builtin type, or of a part of one:
    of ten such calls two happened. ``mingled``: whether something from elsewhere may be there too,
    of which one knows that it is nothing of the repo: that may be called in place of it.
    """
    limits = _LIMITS.get(rule, _ASKED)
    callees = standing.callees
    if mixed or standing.apart or (standing.refusing and _is_avoided(rule, callees, exact)):
        return Certainty.POSSIBLE
    if callees > (limits.exact if exact else _most(limits, standing, lost, rule == "method")):
        return Certainty.POSSIBLE
    if not shown:
        return Certainty.LIKELY if rule in _LIKELY_UNSHOWN else Certainty.POSSIBLE
    if callees <= 1 and _is_proven(rule, exact, lost, mingled):
        return Certainty.DEFINITE
    return Certainty.LIKELY


def _is_proven(rule: str, exact: bool, lost: bool, mingled: bool) -> bool:
    """Whether what is the only one of its site that ``rule`` found is called there."""
    if rule in _PROVEN:
        return True
    if mingled:
        return False
    if rule == "method" or (rule in _PROVEN_BELOW and not lost):
        return True
    return exact and (rule in _PROVEN_OF_OBJECTS or _LIMITS.get(rule, _ASKED).exact == _ANY)


def _is_avoided(rule: str, callees: int, exact: bool) -> bool:
    """Whether those who write such a call do not mean what only raises an error.

    It stands there to refuse what others of its kind do: `del headers["x"]` of some headers.
    """
    if rule in ("call", "method"):
        return 1 < callees <= _LIMITS["method"].vague
    return rule in _REFUSED and not exact


def _most(limits: _Limits, standing: Standing, lost: bool, is_method: bool) -> int:
    """How many there may be for a call to be likely, where not all values are known."""
    if standing.named and limits.exact == _ANY:
        return _MOST_NAMED
    if is_method and not lost and (standing.own or standing.overridden):
        return _ANY
    if standing.met and not lost:
        return max(limits.vague, _MOST_MET)
    most = min(limits.vague, limits.lost) if lost else limits.vague
    if standing.overriding:
        return min(most, limits.lost_overriding if lost else _ANY, limits.overriding)
    return most
