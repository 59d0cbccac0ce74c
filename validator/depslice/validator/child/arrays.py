"""Arrays and tables of numpy, pandas and torch: each as one word, and compared by their own rules.

A library that the described code has not imported is not imported here either.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from typing import Any

_Add = Callable[[Any], "list[str]"]  # the words for plain values


_MOST_SPELLED = 20_000  # words


def array_words(value: Any, words_of: _Add, *, spelled: bool = False) -> list[str] | None:
    """Type, shape and a digest of all elements, when ``value`` is an array or a table.

    ``spelled``: all elements, unless there are very many.
    """
    kind = type(value)
    for name, describe in (("numpy", _numpy), ("pandas", _pandas), ("torch", _torch)):
        library = sys.modules.get(name)
        # Not a subclass: those hold more, and are described as the instances they are.
        if library is not None and (parts := describe(library, value, kind)) is not None:
            words = words_of(parts)
            named = f"{kind.__module__}.{kind.__qualname__}"
            if spelled and len(words) <= _MOST_SPELLED:
                return [f"{named}(", *words, ")"]
            digest = hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass"))
            return [f"{named}<{digest.hexdigest()[:32]}>"]
    return None


def _numpy(numpy: Any, value: Any, kind: type) -> Any:
    if kind is numpy.ndarray:
        return ["array", value.dtype.str, value.dtype.descr, value.shape, value.tolist()]
    if issubclass(kind, numpy.generic):
        return ["scalar", value.dtype.str, value.item()]
    return None


def _pandas(pandas: Any, value: Any, kind: type) -> Any:
    if kind is pandas.DataFrame:
        columns = [_pandas(pandas, value.iloc[:, n], pandas.Series) for n in range(value.shape[1])]
        names = _pandas(pandas, value.columns, pandas.Index)
        return ["frame", names, _pandas(pandas, value.index, pandas.Index), columns]
    if kind is pandas.Series:
        index = _pandas(pandas, value.index, pandas.Index)
        return ["series", value.name, str(value.dtype), index, value.tolist()]
    if issubclass(kind, pandas.Index):
        name, names = value.dtype.name, list(value.names)
        return ["index", kind.__name__, name, names, value.tolist()]
    return None


def _torch(torch: Any, value: Any, kind: type) -> Any:
    if kind is torch.Tensor:
        return ["tensor", str(value.dtype), str(value.device), value.requires_grad, value.tolist()]
    return None


def close(left: Any, right: Any, *, relative: float, absolute: float) -> bool:
    """Whether two arrays are equal within tolerances, by the library's testing functions."""
    kind = type(left)
    if type(right) is not kind:
        return False
    try:
        _assert_close(left, right, kind, relative, absolute)
    except Exception:  # noqa: BLE001 - also what the comparison of strange elements raises
        return False
    return True


def _assert_close(left: Any, right: Any, kind: type, relative: float, absolute: float) -> None:
    top = kind.__module__.partition(".")[0]
    if top == "numpy":
        import numpy as np  # type: ignore[import-not-found,unused-ignore]

        if left.dtype != right.dtype or left.shape != right.shape:
            raise AssertionError
        np.testing.assert_allclose(left, right, rtol=relative, atol=absolute)
    elif top == "pandas":
        import pandas as pd  # type: ignore[import-not-found,import-untyped,unused-ignore]

        compare = {
            pd.DataFrame: pd.testing.assert_frame_equal,
            pd.Series: pd.testing.assert_series_equal,
        }.get(kind, pd.testing.assert_index_equal)
        compare(left, right, check_exact=False, rtol=relative, atol=absolute)
    else:
        import torch  # type: ignore[import-not-found,unused-ignore]

        torch.testing.assert_close(left, right, rtol=relative, atol=absolute, equal_nan=True)
