"""What functions of the standard library ask of the objects that they are given.

The special methods that no protocol in a stub tells of: those that every object has (a set
hashes what it holds), and those of an iterable's elements (data model, 3.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

Way: TypeAlias = Literal["itself", "elements", "alone", "keys", "parts"]
"""How what is asked is reached from an argument: the argument; what iterating over it gives;
that, if it is the only argument, else itself (``max(xs)``, ``max(a, b)``); the first of each pair
that it gives; what builtin containers hold, however deep."""

ALL: Final = -1
NAMED: Final = -2


class Demand(NamedTuple):
    """``dunders`` of an argument, or of what it holds: the first that is there, or ``every``.

    ``place`` is its index (:data:`ALL`: each of those by position, :data:`NAMED`: by keyword),
    ``name`` what it goes by as a keyword.
    """

    dunders: tuple[str, ...]
    way: Way = "itself"
    place: int = ALL
    name: str = ""
    every: bool = False


HASHED: Final = ("__hash__", "__eq__")
ORDERED: Final = ("__lt__", "__gt__")  # the second reflected, where there is no first
TESTED: Final = ("__bool__", "__len__")
SHOWN: Final = ("__str__", "__repr__")
_SHOWN_ANYHOW: Final = ("__repr__",)
_FORMATTED: Final = ("__format__", "__str__", "__repr__")
_WHOLE: Final = ("__index__",)
_REAL: Final = ("__float__", "__index__")


def _each(*dunders: str) -> tuple[Demand, ...]:
    return (Demand(dunders),)


def _alike(
    owner: str, names: Sequence[str], demands: tuple[Demand, ...]
) -> dict[str, tuple[Demand, ...]]:
    return dict.fromkeys([f"{owner}.{name}" for name in names], demands)


_HASHED_ELEMENTS: Final = (Demand(HASHED, "elements", every=True),)
_HASHED_FIRST: Final = (Demand(HASHED, "elements", 0, "iterable", every=True),)
_HASHED_KEY: Final = (Demand(HASHED, "itself", 0, "key", every=True),)
_ORDERED_ALONE: Final = (Demand(ORDERED, "alone"),)
_ORDERED_ANYHOW: Final = (Demand(ORDERED), Demand(ORDERED, "elements"))
_SORTED_FIRST: Final = (Demand(ORDERED, "elements", 0, "data"),)
_SEARCHED: Final = (
    Demand(ORDERED, "elements", 0, "a", every=True),
    Demand(ORDERED, "itself", 1, "x", every=True),
)
_SHOWN_FIRST: Final = (Demand(_SHOWN_ANYHOW, "itself", 0, "object"),)
_SHOWN_PARTS: Final = (Demand(SHOWN, "parts", 0),)
_SUBSTITUTED: Final = (
    Demand(("__getitem__",), "itself", 0, "mapping"),
    Demand(("__missing__",), "itself", 0, "mapping"),
    Demand(SHOWN, "parts"),
    Demand(SHOWN, "itself", NAMED),
)
_SET_METHODS: Final = (
    *("difference", "difference_update", "intersection", "intersection_update", "isdisjoint"),
    *("issubset", "issuperset", "symmetric_difference", "symmetric_difference_update"),
    *("union", "update"),
)

_HANDLING_XML: Final = (
    *("comment", "startCDATA", "endCDATA", "startDTD", "endDTD"),  # of a lexical handler
    # Of a declaration handler (SAX2 extensions, `org.xml.sax.ext.DeclHandler`).
    *("attributeDecl", "elementDecl", "externalEntityDecl", "internalEntityDecl"),
)
_PROPERTY: Final = (Demand(_HANDLING_XML, "itself", 1, "value", every=True),)

DEMANDS: Final[Mapping[str, tuple[Demand, ...]]] = {
    "builtins.all": (Demand(TESTED, "elements"),),
    "builtins.anext": _each("__anext__"),
    "builtins.any": (Demand(TESTED, "elements"),),
    "builtins.ascii": _each(*_SHOWN_ANYHOW),
    "builtins.bin": _each(*_WHOLE),
    "builtins.bool": _each(*TESTED),
    "builtins.bytearray": (Demand(_WHOLE), Demand(_WHOLE, "elements")),
    "builtins.bytes": (
        Demand(("__bytes__", "__iter__")),
        Demand(_WHOLE),
        Demand(_WHOLE, "elements"),
    ),
    "builtins.chr": _each(*_WHOLE),
    "builtins.complex": _each("__complex__", "__float__", "__index__"),
    "builtins.dict.__contains__": _HASHED_KEY,
    "builtins.dict.__delitem__": _HASHED_KEY,
    "builtins.dict.__getitem__": (Demand(("__missing__",), "itself", 0), *_HASHED_KEY),
    "builtins.dict.__setitem__": _HASHED_KEY,
    "builtins.dict.fromkeys": _HASHED_FIRST,
    "builtins.dict.update": (Demand(HASHED, "keys", every=True),),
    "builtins.divmod": (
        Demand(("__divmod__",), "itself", 0),
        Demand(("__rdivmod__",), "itself", 1),
    ),
    "builtins.float": _each(*_REAL),
    "builtins.format": _each(*_FORMATTED),
    "builtins.hash": _each("__hash__"),
    "builtins.hex": _each(*_WHOLE),
    "builtins.int": _each("__int__", "__index__", "__trunc__"),
    "builtins.len": _each("__len__"),
    "builtins.max": (Demand(("__gt__", "__lt__"), "alone"),),
    "builtins.min": _ORDERED_ALONE,
    "builtins.next": _each("__next__"),
    "builtins.oct": _each(*_WHOLE),
    "builtins.pow": (Demand(("__pow__",), "itself", 0), Demand(("__rpow__",), "itself", 1)),
    "builtins.print": _each(*SHOWN),
    "builtins.range": _each(*_WHOLE),
    "builtins.repr": _each(*_SHOWN_ANYHOW),
    "builtins.round": (Demand(_WHOLE, "itself", 1, "ndigits"),),
    "builtins.sorted": (Demand(ORDERED, "elements", 0),),
    "builtins.str": _each(*SHOWN),
    "builtins.str.format": (Demand(_FORMATTED), Demand(_FORMATTED, "itself", NAMED)),
    "builtins.sum": (
        Demand(("__add__", "__radd__"), "elements", 0, every=True),
        Demand(("__add__",), "itself", 1, "start"),
    ),
    "collections.Counter": _HASHED_FIRST,
    "collections.Counter.subtract": _HASHED_FIRST,
    "collections.Counter.update": _HASHED_FIRST,
    "collections.OrderedDict.fromkeys": _HASHED_FIRST,
    "collections.OrderedDict.move_to_end": _HASHED_KEY,
    "itertools.compress": (Demand(TESTED, "elements", 1, "selectors"),),
    "itertools.filterfalse": (Demand(TESTED, "elements", 1),),
    "itertools.islice": _each(*_WHOLE),
    "logging.StreamHandler": (Demand(("write", "flush"), "itself", 0, "stream", every=True),),
    "math.ceil": _each("__ceil__", *_REAL),
    "math.floor": _each("__floor__", *_REAL),
    "math.fsum": (Demand(_REAL, "elements"),),
    "math.trunc": _each("__trunc__"),
    "operator.countOf": (
        Demand(("__eq__",), "elements", 0, "a"),
        Demand(("__eq__",), "itself", 1, "b"),
    ),
    "operator.index": _each(*_WHOLE),
    "operator.indexOf": (
        Demand(("__eq__",), "elements", 0, "a"),
        Demand(("__eq__",), "itself", 1, "b"),
    ),
    "operator.length_hint": _each("__len__", "__length_hint__"),
    "operator.not_": _each(*TESTED),
    "operator.truth": _each(*TESTED),
    "os.fsdecode": _each("__fspath__"),
    "os.fspath": _each("__fspath__"),
    "random.choice": (Demand(("__len__", "__getitem__"), "itself", 0, "seq", every=True),),
    "statistics.mode": _HASHED_FIRST,
    "statistics.multimode": _HASHED_FIRST,
    "struct.pack": (Demand(_WHOLE), Demand(("__float__",)), Demand(("__bytes__",))),
    "sys.getsizeof": _each("__sizeof__"),
    "typing.Mapping.get": _HASHED_KEY,
    "typing.Mapping.__contains__": _HASHED_KEY,
    "typing.MutableMapping.pop": _HASHED_KEY,
    "typing.MutableMapping.setdefault": _HASHED_KEY,
    "typing.MutableSet.add": _HASHED_KEY,
    "typing.MutableSet.discard": _HASHED_KEY,
    "typing.MutableSet.remove": _HASHED_KEY,
    "weakref.WeakSet": _HASHED_ELEMENTS,
    **_alike("builtins.set", _SET_METHODS, _HASHED_ELEMENTS),
    **_alike("builtins.frozenset", _SET_METHODS, _HASHED_ELEMENTS),
    **_alike("typing.AbstractSet", ("isdisjoint",), _HASHED_ELEMENTS),
    **_alike("weakref.WeakSet", _SET_METHODS, _HASHED_ELEMENTS),
    **_alike("queue.PriorityQueue", ("put", "put_nowait"), _each(*ORDERED)),
    **_alike("asyncio.queues.PriorityQueue", ("put", "put_nowait"), _each(*ORDERED)),
    **_alike("heapq", ("heapify", "heappop"), _ORDERED_ALONE),
    **_alike("heapq", ("heappushpop", "heapreplace", "merge"), _ORDERED_ANYHOW),
    **_alike("heapq", ("nlargest", "nsmallest"), _ORDERED_ANYHOW),
    "heapq.heappush": (Demand(ORDERED, "elements", 0), Demand(ORDERED, "itself", 1)),
    **_alike("bisect", ("bisect", "bisect_left", "bisect_right"), _SEARCHED),
    **_alike("bisect", ("insort", "insort_left", "insort_right"), _SEARCHED),
    **_alike("statistics", ("median", "median_low", "median_high"), _SORTED_FIRST),
    **_alike("statistics", ("median_grouped", "quantiles"), _SORTED_FIRST),
    **_alike("pprint", ("pformat", "pp", "pprint", "saferepr"), _SHOWN_FIRST),
    **_alike("pprint.PrettyPrinter", ("pformat", "pprint"), _SHOWN_FIRST),
    "xml.sax.XMLReader.setProperty": _PROPERTY,
    "xml.sax.xmlreader.XMLReader.setProperty": _PROPERTY,
    "xml.sax.expatreader.ExpatParser.setProperty": _PROPERTY,
    "xml.sax.saxutils.XMLFilterBase.setProperty": _PROPERTY,
    **_alike("csv.Writer", ("writerow", "writerows"), _SHOWN_PARTS),
    **_alike("csv.DictWriter", ("writerow", "writerows"), _SHOWN_PARTS),
    **_alike("string.Template", ("substitute", "safe_substitute"), _SUBSTITUTED),
}
"""By dotted name; of methods also by the name that a base has for them."""
