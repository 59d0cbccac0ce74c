"""What is known about code outside the repo without reading it: names, not types."""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from depslice.callgraph.engine.facts import Listing

STANDARD_MODULES: Final = frozenset(sys.stdlib_module_names) | {"builtins"}

# Names that say little of a receiver: builtin types have methods of that name.
BUILTIN_METHODS: Final = frozenset(
    name
    for kind in (str, bytes, int, float, list, tuple, dict, set, frozenset)
    for name in vars(kind)
)

SPECIAL_NAMES: Final = frozenset(
    {
        name
        for each in (*vars(builtins).values(), operator)
        if isinstance(each, type) or each is operator
        for name in dir(each)
        if name.startswith("__")
    }
    | {
        *(
            "__aenter__",
            "__aexit__",
            "__aiter__",
            "__anext__",
            "__await__",
            "__enter__",
            "__exit__",
        ),
        *("__all__", "__annotations__", "__bool__", "__bytes__", "__complex__", "__copy__"),
        *("__del__", "__delete__", "__deepcopy__", "__fspath__", "__getattr__", "__getnewargs__"),
        *("__getnewargs_ex__", "__instancecheck__", "__length_hint__", "__match_args__"),
        *("__missing__", "__mro_entries__", "__post_init__", "__prepare__", "__replace__"),
        "__rmatmul__",
        *("__reversed__", "__set__", "__set_name__", "__setstate__", "__slots__"),
        *("__subclasscheck__", "__subclasses__", "__test__", "__weakref__", "__attrs_post_init__"),
        # Of later versions, and of Python 2: what is running decides nothing.
        *("__annotate__", "__buffer__", "__firstlineno__", "__release_buffer__"),
        *("__static_attributes__", "__type_params__"),
        *("__cmp__", "__coerce__", "__delslice__", "__div__", "__getslice__", "__hex__"),
        *("__idiv__", "__long__", "__metaclass__", "__nonzero__", "__oct__", "__rdiv__"),
        *("__setslice__", "__unicode__"),
    }
)
"""Special names that the data model and the library give a meaning: asked for as rules of these say."""

EXCEPTIONS: Final = frozenset(
    f"builtins.{name}"
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
)

MOVING: Final = frozenset(
    {
        *(f"heapq.{name}" for name in ("heapify", "heappop", "heappush", "heappushpop")),
        *("heapq.heapreplace", "random.shuffle", "random.Random.shuffle"),
        *(f"bisect.{name}" for name in ("insort", "insort_left", "insort_right")),
    }
)
"""What moves the elements of the list that it is given first."""

SHOWING: Final[Mapping[str, AbstractSet[str]]] = {
    **{f"builtins.{kind}": {"__str__"} for kind in ("bytearray", "bytes", "str")},
    **{kind: {"__str__"} for kind in EXCEPTIONS},
}
"""Special methods of builtin types that ask for no other: ``str`` shows no ``repr``.

``str.__format__`` is none: without a specification it asks for ``__str__``.
"""

# Bases that call back nothing but special methods.
SCALARS: Final = frozenset(
    f"builtins.{name}" for name in ("bool", "bytes", "complex", "float", "int", "str")
)
"""Types that hold nothing, and which nearly nobody extends."""

INERT_BASES: Final = frozenset(
    {
        "builtins.object",
        "abc.ABC",
        "typing.Generic",
        "typing.Protocol",
        "typing_extensions.Protocol",
        "typing.Any",
        "builtins.Exception",
        "builtins.BaseException",
        "builtins.ValueError",
        "builtins.TypeError",
        "builtins.KeyError",
        "builtins.IndexError",
        "builtins.LookupError",
        "builtins.AttributeError",
        "builtins.RuntimeError",
        "builtins.NotImplementedError",
        "builtins.OSError",
        "builtins.IOError",
        "builtins.ImportError",
        "builtins.ArithmeticError",
        "builtins.ZeroDivisionError",
        "builtins.AssertionError",
        "builtins.StopIteration",
        "builtins.Warning",
        "builtins.UserWarning",
        "builtins.DeprecationWarning",
        "builtins.FutureWarning",
        "builtins.RuntimeWarning",
        "builtins.SyntaxError",
        "builtins.UnicodeError",
        "builtins.TimeoutError",
        "builtins.FileNotFoundError",
        "builtins.PermissionError",
        "builtins.ConnectionError",
        "builtins.KeyboardInterrupt",
        "builtins.SystemExit",
        "builtins.GeneratorExit",
        "builtins.NameError",
        "builtins.EOFError",
        "builtins.MemoryError",
        "builtins.OverflowError",
        "builtins.RecursionError",
        "builtins.str",
        "builtins.int",
        "builtins.float",
        "builtins.bytes",
        "builtins.tuple",
        "builtins.list",
        "builtins.dict",
        "builtins.set",
        "builtins.frozenset",
        "builtins.type",
        "typing.NamedTuple",
        "typing.TypedDict",
        "typing_extensions.TypedDict",
        "enum.Enum",
        "enum.IntEnum",
        "enum.StrEnum",
        "enum.Flag",
        "enum.IntFlag",
        "abc.ABCMeta",
        "enum.EnumMeta",
        "enum.EnumType",
        "collections.OrderedDict",
        "collections.defaultdict",
        "collections.deque",
        "threading.local",
    }
)

METACLASSES: Final = frozenset({"builtins.type", "abc.ABCMeta", "enum.EnumMeta", "enum.EnumType"})
"""Classes of the library whose instances are classes."""

_MODULE_HOOKS: Final = (
    *("forward", "extra_repr", "train", "eval", "apply", "to", "type", "cpu", "cuda", "float"),
    *("double", "half", "bfloat16", "requires_grad_", "zero_grad", "compile", "share_memory"),
    *("state_dict", "load_state_dict", "get_extra_state", "set_extra_state", "reset_parameters"),
    *("parameters", "named_parameters", "buffers", "named_buffers", "children", "named_children"),
    *("modules", "named_modules", "get_submodule", "get_parameter", "get_buffer", "add_module"),
    *("register_buffer", "register_parameter", "register_module", "register_full_backward_hook"),
    *("register_forward_hook", "register_forward_pre_hook", "training", "call_super_init"),
    *("inverse", "right_inverse", "dump_patches", "_apply", "_call_impl", "_wrapped_call_impl"),
    *("_get_name", "_load_from_state_dict", "_save_to_state_dict", "_named_members", "_version"),
    *("_replicate_for_data_parallel", "_infer_parameters", "_slow_forward", "_register_*hook*"),
)
_PYDANTIC_MODELS: Final = (
    *("pydantic.BaseModel", "pydantic.main.BaseModel", "pydantic.RootModel"),
    *("pydantic.v1.BaseModel", "pydantic_settings.BaseSettings", "sqlmodel.SQLModel"),
)
_PYDANTIC: Final = (
    *("model_*", "dict", "json", "copy", "construct", "validate", "parse_*", "schema", "from_orm"),
    *("schema_json", "update_forward_refs", "settings_customise_sources", "customise_sources"),
    *("_iter", "_calculate_keys", "_copy_and_set_values", "_init_private_attributes"),
    *("_settings_build_values", "_setattr_handler"),
)
_DJANGO_MODEL: Final = "django.db.models.Model"
_DJANGO: Final = (
    *("save", "save_base", "asave", "delete", "adelete", "clean", "clean_fields", "full_clean"),
    *("validate_unique", "validate_constraints", "get_constraints", "unique_error_message"),
    *("date_error_message", "natural_key", "from_db", "refresh_from_db", "arefresh_from_db"),
    *("get_deferred_fields", "serializable_value", "prepare_database_save", "check", "pk"),
    *("get_absolute_url", "_do_insert", "_do_update", "_save_parents", "_save_table", "_meta"),
    *("_get_pk_val", "_set_pk_val", "_is_pk_set", "_get_FIELD_display", "_get_next_or_*"),
    *("_check_*", "_perform_*_checks", "_get_unique_checks", "_get_field_expression_map"),
    *("_prepare_related_fields_for_save", "_parse_*", "_validate_force_insert", "_state"),
)

# What base classes find by its name in their subclasses, beside what they declare: patterns.
# Of classes that are not of the standard library, all there is to find but special names.
FOUND_BY_NAME: Final[dict[str, tuple[str, ...]]] = {
    "cmd.Cmd": ("do_*", "complete_*", "help_*"),
    "http.server.BaseHTTPRequestHandler": ("do_*",),
    "io.IOBase": ("name", "mode"),
    "reprlib.Repr": ("repr_*",),
    "tarfile.TarFile": ("*open",),
    "unittest.case.TestCase": ("test*", "runTest"),
    "unittest.TestCase": ("test*", "runTest"),
    "urllib.request.BaseHandler": ("*_open", "*_request", "*_response", "*_error_*"),
    "urllib.request.OpenerDirector": ("*_open",),
    "xmlrpc.server.SimpleXMLRPCDispatcher": ("export_*",),
    "configparser.RawConfigParser": ("get*",),
    "torch.nn.Module": _MODULE_HOOKS,
    "torch.nn.modules.Module": _MODULE_HOOKS,
    "torch.nn.modules.module.Module": _MODULE_HOOKS,
    "torch.autograd.Function": (
        *("forward", "backward", "setup_context", "jvp", "vjp", "vmap", "symbolic"),
        "generate_vmap_rule",
    ),
    "torch.utils.data.Dataset": (),
    "torch.utils.data.IterableDataset": (),
    **dict.fromkeys(_PYDANTIC_MODELS, _PYDANTIC),
    _DJANGO_MODEL: _DJANGO,
}

# How the names of functions begin that change something for later.
SETTING: Final = (
    *("add", "append", "bind", "capture", "clear", "configure", "disable", "enable", "extend"),
    *("filter", "init", "insert", "install", "patch", "pickle", "pop", "register", "remove"),
    *("reset", "seed", "set", "simplefilter", "update", "use"),
)

# First words of the methods by which a logger writes a record (library reference, logging).
SAYING: Final = frozenset(
    {"debug", "info", "warning", "warn", "error", "exception", "critical", "log"}
)

LOGGING: Final = frozenset({"logging", "logging.Logger", "logging.LoggerAdapter"})

# Attributes of a logger that only tell something, and names that loggers go by.
TELLING: Final = frozenset(
    {"isEnabledFor", "getEffectiveLevel", "hasHandlers", "is_enabled_for", "name"}
)
LOGGERS: Final = frozenset({"logger", "log", "_logger", "_log"})

# Bases (and metaclasses) whose class bodies are read as records.
RECORD_BASES: Final = frozenset(
    {
        "typing.NamedTuple",
        "typing.TypedDict",
        "typing_extensions.TypedDict",
        "typing_extensions.NamedTuple",
        "enum.Enum",
        "enum.IntEnum",
        "enum.StrEnum",
        "enum.Flag",
        "enum.IntFlag",
        "enum.ReprEnum",
        *_PYDANTIC_MODELS,
        _DJANGO_MODEL,
    }
)

# Bases that make what the fields of their subclasses are annotated with, of plain data.
MODEL_BASES: Final = frozenset(_PYDANTIC_MODELS)

# Bases that refuse a class whose body lacks something: columns, keys.
CHECKING_BASES: Final = frozenset(
    {
        "sqlalchemy.orm.DeclarativeBase",
        "sqlalchemy.orm.DeclarativeBaseNoMeta",
        "sqlalchemy.orm.MappedAsDataclass",
        "sqlalchemy.orm.declarative_base",
        "sqlalchemy.ext.declarative.declarative_base",
    }
)

# What pydantic asks a class for that a field is annotated with, when the model is made.
SCHEMA_HOOKS: Final[Mapping[str, tuple[str, ...]]] = {
    "pydantic": (
        "__get_pydantic_core_schema__",
        "__get_pydantic_json_schema__",
        "__get_validators__",
        "__modify_schema__",
    )
}

# Calls that read the annotations of the class they are given.
ANNOTATIONS: Final[Mapping[str, Listing]] = {
    "typing.get_type_hints": "hints",
    "typing_extensions.get_type_hints": "hints",
    "inspect.get_annotations": "annotated",
    "typing_extensions.get_annotations": "annotated",
    "annotationlib.get_annotations": "annotated",
}

# Calls that look at the function or class they are given, and do not call it.
LOOKING: Final = ("inspect.", "dis.", "annotationlib.")

# Calls that hand back (what is in) their argument. value: index of the argument.
SAME: Final = {
    "copy.copy": 0,
    "enum.member": 0,
    "enum.nonmember": 0,
    "copy.deepcopy": 0,
    "typing.cast": 1,
    "inspect.unwrap": 0,
    "functools.lru_cache": 0,
    "functools.cache": 0,
    "functools.total_ordering": 0,
    "functools.singledispatch": 0,
    "functools.singledispatchmethod": 0,
    "weakref.proxy": 0,
    "builtins.classmethod": 0,
    "functools.cached_property": 0,
    "types.MappingProxyType": 0,
    "typing.final": 0,
    "typing.overload": 0,
    "typing.no_type_check": 0,
    "typing.runtime_checkable": 0,
    "abc.abstractmethod": 0,
    "dataclasses.dataclass": 0,
    "contextlib.nullcontext": 0,
    "asyncio.create_task": 0,
    "asyncio.ensure_future": 0,
    "asyncio.wait_for": 0,
    "asyncio.shield": 0,
    "typing.assert_type": 0,
    "warnings.deprecated": 0,
}
TASKS: Final = frozenset({"asyncio.create_task", "asyncio.ensure_future"})
"""Of these, what give a task of what they are given, which has methods of its own."""
BY_DEFAULT: Final = {
    "__format__": ("__str__", "__repr__"),
    "__ne__": ("__eq__",),
    "__str__": ("__repr__",),
}
"""What methods of ``object`` call (language reference, 3.3.1)."""
# Decorators that keep results by the arguments, which are hashed.
CACHING: Final = frozenset({"functools.lru_cache", "functools.cache"})
# Decorators of functions that others are registered with, by the type of what they are given.
DISPATCHING: Final = frozenset({"functools.singledispatch", "functools.singledispatchmethod"})
ELEMENT: Final = frozenset(
    {
        "builtins.next",
        "builtins.min",
        "builtins.max",
        "builtins.sum",
        "random.choice",
    }
)
CONTAINER: Final = {
    "builtins.list": "list",
    "builtins.tuple": "tuple",
    "builtins.set": "set",
    "builtins.frozenset": "frozenset",
    "builtins.sorted": "list",
    "builtins.filter": "list",
    "collections.deque": "deque",
    "itertools.chain": "list",
    "itertools.islice": "list",
    "itertools.cycle": "list",
    "itertools.chain.from_iterable": "list",
    "builtins.aiter": "list",
    "queue.Queue": "queue.Queue",
    "queue.LifoQueue": "queue.LifoQueue",
    "queue.PriorityQueue": "queue.PriorityQueue",
    "queue.SimpleQueue": "queue.SimpleQueue",
    "heapq.nlargest": "list",
    "heapq.nsmallest": "list",
}

ASKING_LENGTH: Final = frozenset({"builtins.list", "builtins.sorted", "builtins.tuple"})
"""Those of them that make room beforehand (PEP 424)."""

IMPORTING: Final = frozenset({"builtins.__import__", "importlib.import_module"})
"""Calls that import what a text names."""

# Calls that give the names of a scope: who subscripts that looks them up.
NAMESPACES: Final = frozenset({"builtins.globals", "builtins.locals", "builtins.vars"})
ASKING_NAMESPACES: Final = frozenset(
    {"dict", "dir", "eval", "id", "isinstance", "iter", "len", "list", "print", "set", "sorted"}
)
"""Builtins that are given a namespace and bind nothing in it."""
TAKING_AS_ONE: Final = frozenset(
    f"builtins.{name}"
    for name in ("bool", "callable", "hash", "id", "isinstance", "issubclass", "type")
)
"""Functions that are given a namespace and read no name of it."""

_PICKLING: Final = (
    *("__reduce_ex__", "__reduce__", "__getnewargs_ex__", "__getnewargs__"),
    *("__getstate__", "__setstate__"),
)
FILLED_ANEW: Final = ("items", "append", "extend", "__setitem__")
"""What a copy is filled by, where what it holds is told apart (`__reduce__`), or it is a container."""
# Of these, the argument itself is not copied: the values of its fields are.
COPYING_FIELDS: Final = frozenset({"dataclasses.asdict", "dataclasses.astuple"})
# What copies an object, or writes it, calls of it and of what makes it anew: each that is there.
COPYING: Final[Mapping[str, tuple[str, ...]]] = {
    "copy.copy": ("__copy__", *_PICKLING),
    **dict.fromkeys(("copy.deepcopy", *COPYING_FIELDS), ("__deepcopy__", *_PICKLING)),
    **dict.fromkeys(("pickle.dumps", "pickle.dump", "pickle.Pickler.dump"), _PICKLING),
}
PICKLED: Final = "[pickled]"
"""What stands for a special method that pickling asks of all that it gets at."""
REACHING: Final[Mapping[str, tuple[str, ...]]] = {
    "__deepcopy__": COPYING["copy.deepcopy"],
    PICKLED: (*_PICKLING, PICKLED),
}
"""What is asked of all that an object holds, where one of these is asked of it; itself too."""
# What hands on to the mappings it is given, whatever is done with it.
_MAPPING: Final = ("__getitem__", "__missing__", "__contains__", "__iter__", "__len__", "get")
WRAPPING: Final[Mapping[str, tuple[str, ...]]] = {
    "collections.ChainMap": (*_MAPPING, "__setitem__", "__delitem__"),
    "types.MappingProxyType": (*_MAPPING, "keys", "values", "items"),
}
# Classes of `collections.abc`, `typing` and others that any object with these methods is an
# instance of: their `__subclasshook__` looks for nothing else.
STRUCTURAL: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        ("AbstractAsyncContextManager", "AsyncContextManager"), ("__aenter__", "__aexit__")
    ),
    **dict.fromkeys(("AbstractContextManager", "ContextManager"), ("__enter__", "__exit__")),
    "AsyncGenerator": ("__aiter__", "__anext__", "asend", "athrow", "aclose"),
    "AsyncIterable": ("__aiter__",),
    "AsyncIterator": ("__aiter__", "__anext__"),
    "Awaitable": ("__await__",),
    "Buffer": ("__buffer__",),
    "Callable": ("__call__",),
    "Collection": ("__len__", "__iter__", "__contains__"),
    "Container": ("__contains__",),
    "Coroutine": ("__await__", "send", "throw", "close"),
    "Generator": ("__iter__", "__next__", "send", "throw", "close"),
    "Hashable": ("__hash__", "__eq__"),  # who has the second alone, is not
    "Iterable": ("__iter__",),
    "Iterator": ("__iter__", "__next__"),
    "PathLike": ("__fspath__",),
    "Reversible": ("__iter__", "__reversed__"),
    "Sized": ("__len__",),
    "SupportsAbs": ("__abs__",),
    "SupportsBytes": ("__bytes__",),
    "SupportsComplex": ("__complex__",),
    "SupportsFloat": ("__float__",),
    "SupportsIndex": ("__index__",),
    "SupportsInt": ("__int__",),
    "SupportsRound": ("__round__",),
}
ITERATING: Final = frozenset(
    {
        "builtins.list",
        "builtins.tuple",
        "builtins.set",
        "builtins.frozenset",
        "builtins.sorted",
        "builtins.iter",
        "builtins.enumerate",
        "builtins.zip",
        "builtins.map",
        "builtins.filter",
        "builtins.sum",
        "builtins.any",
        "builtins.all",
        "builtins.min",
        "builtins.max",
        "builtins.dict",
        "collections.deque",
        "collections.OrderedDict",
        "collections.Counter",
        "itertools.chain",
        "itertools.islice",
        "functools.reduce",
        "builtins.str.join",
    }
)


PLAIN_DATA: Final = frozenset(
    {
        "ast.literal_eval",
        "ast.parse",
        "builtins.divmod",
        "builtins.object",
        "builtins.round",
        "json.load",
        "json.loads",
        "marshal.load",
        "marshal.loads",
        "math.trunc",
        "plistlib.load",
        "plistlib.loads",
        "re.escape",
        "urllib.request.urlopen",
    }
)
"""What the standard library gives as ``Any``, and that is no object of the repo for all that.

As long as nothing is passed by keyword: ``object_hook``, ``cls`` and their like make objects."""


MAKING: Final = {
    "json.load": ("object_hook", "object_pairs_hook", "parse_float", "parse_int", "parse_constant"),
}
MAKING["json.loads"] = MAKING["json.load"]
"""Functions that are given, by keyword, what makes the objects of which their result consists."""


WAITING: Final = frozenset(
    {
        # Interfaces, which only say what a class has to do.
        *("collections.abc", "numbers", "os.PathLike", "typing", "typing_extensions"),
        *("io.IOBase", "io.RawIOBase", "io.BufferedIOBase", "io.TextIOBase"),
        *("_io._IOBase", "_io._RawIOBase", "_io._BufferedIOBase", "_io._TextIOBase"),
        # Classes whose methods ask for what their source says.
        *("argparse", "ast", "collections", "contextlib", "datetime.tzinfo", "html.parser"),
        *("http.cookiejar", "json", "json.decoder", "json.encoder", "logging", "string"),
        *("textwrap", "threading", "xml.sax.handler"),
    }
)
"""Modules and classes that do nothing with an object before they are given it, or asked."""
_USING: Final = frozenset(
    {
        *("abc", "copy", "dataclasses", "functools", "itertools", "typing", "typing_extensions"),
        *("collections.Counter", "collections.OrderedDict", "collections.defaultdict"),
        *("collections.deque", "weakref.ref"),
    }
)
"""Modules and classes of which it is told what they do with objects."""
DICTS: Final = frozenset(
    {"OrderedDict", "WeakKeyDictionary", "WeakValueDictionary", "defaultdict", "dict"}
)
"""Kinds of containers that go by keys."""
KEEPING: Final = frozenset(
    {"__setitem__", "add", "append", "appendleft", "extend", "insert", "setdefault", "update"}
)
"""Methods by which builtin containers get what they hold."""
HOLDING: Final = KEEPING | {
    *("__contains__", "__delitem__", "__getitem__", "__init__", "copy", "get", "items", "keys"),
    *("pop", "popitem", "popleft", "values"),
}
"""Those of which it is told what they do with it, for a class that extends a container."""


class Kept(NamedTuple):
    """An argument that a method keeps: its place (``-1``: by keyword alone) and its name.

    ``made``: a class, of which an object is made at once. ``passed``: the arguments behind it are
    what it is called with.
    """

    place: int
    keyword: str
    made: bool = False
    passed: bool = False


REGISTERING: Final[Mapping[str, tuple[Kept, ...]]] = {
    "argparse._ActionsContainer.add_argument": (Kept(-1, "type"), Kept(-1, "action", made=True)),
    "optparse.OptionContainer.add_option": (Kept(-1, "callback"),),
    "sched.scheduler.enter": (Kept(2, "action"),),
    "sched.scheduler.enterabs": (Kept(2, "action"),),
    "unittest.TestCase.addCleanup": (Kept(0, "function", passed=True),),
}
"""Methods that keep a function, or an object, for others to call it."""
RUNNING: Final[Mapping[str, tuple[str, ...]]] = {
    "argparse.ArgumentParser.parse_args": ("argparse._ActionsContainer.add_argument",),
    "argparse.ArgumentParser.parse_known_args": ("argparse._ActionsContainer.add_argument",),
    "optparse.OptionParser.parse_args": ("optparse.OptionContainer.add_option",),
    "sched.scheduler.run": ("sched.scheduler.enter", "sched.scheduler.enterabs"),
    "unittest.TestCase.doCleanups": ("unittest.TestCase.addCleanup",),
    "unittest.TestCase.run": ("unittest.TestCase.addCleanup",),
}
"""Methods that call what those have kept, of whatever object: which one it was is not told apart."""


def keeps_nothing(bases: Iterable[str]) -> bool:
    """Whether bases do nothing that is not told with what an instance is made with."""
    return all(
        base in SCALARS
        or base in EXCEPTIONS
        or base in ("builtins.object", "abc.ABC", "builtins.type", "abc.ABCMeta")
        or base.startswith(("typing.", "typing_extensions.", "enum."))
        for base in bases
    )


def is_of(dotted: str, names: AbstractSet[str]) -> bool:
    """Whether something, or the module or class that it stands in, is among ``names``."""
    return dotted in names or dotted.rpartition(".")[0] in names


def only_uses(dotted: str) -> bool:
    """Whether a function or class does with objects what is known of it, and no more.

    Any other may do whatever a class is made for that the class extends.
    """
    return is_of(dotted, _USING) or dotted.startswith("builtins.")


LOOKED_FOR: Final = frozenset(
    {
        *("__adapt__", "__conform__"),  # sqlite3
        *("__args__", "__bound__", "__constraints__", "__metadata__", "__orig_bases__"),
        *("__orig_class__", "__origin__", "__parameters__", "__supertype__"),
        *("__typing_is_unpacked_typevartuple__", "__typing_prepare_subst__"),
        *("__typing_subst__", "__typing_unpacked_tuple_args__"),
        *("__code__", "__closure__", "__defaults__", "__globals__", "__kwdefaults__"),
        *("__objclass__", "__path__", "__signature__"),  # inspect, pydoc
        *("__author__", "__credits__", "__date__", "__version__"),
        *("__dataclass_fields__", "__dataclass_params__", "__getinitargs__", "__notes__"),
        *("__members__", "__unittest_expecting_failure__", "__unittest_skip__"),
        "__unittest_skip_why__",
    }
)
"""Special names that modules of the standard library look for on objects, and syntax does not.

All that its sources of any version name, of those that objects of others may have.
"""


SHARED: Final = frozenset(
    {
        *("__array__", "__array_function__", "__array_interface__", "__array_struct__"),
        *("__array_ufunc__", "__arrow_array__", "__arrow_c_array__", "__arrow_c_stream__"),
        *("__cuda_array_interface__", "__dataframe__", "__dlpack__", "__geo_interface__"),
        *("__get_pydantic_core_schema__", "__html__", "__html_format__", "__json__"),
    }
)
"""Special names by which objects of any library show themselves to any other."""


def is_inert(dotted: str) -> bool:
    """Whether what ``dotted`` gives cannot be an object of the repo: a builtin or standard type."""
    return dotted.partition(".")[0] in STANDARD_MODULES
