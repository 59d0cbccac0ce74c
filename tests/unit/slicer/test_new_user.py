"""Code as new users have it: what their slices lacked, each executed beside its original."""

from __future__ import annotations

from pathlib import Path

from tests.check import answer

OWN_DECORATORS = """
# --- lib.py
from other import cached_property as remembered, overload, property

class cached_property:
    def __init__(self, func):
        self.func = func

    def __get__(self, obj, cls):
        return self.func(obj)

def final(f):
    return Counted(f)

class Counted:
    def __init__(self, f):
        self.f = f

    def __call__(self, *args):
        return self.f(*args) + 1

class T:
    @cached_property
    def here(self):
        return 1

    @property
    def there(self):
        return 1

@final
def whole():
    return 1

@overload
def sized(x):
    return 1

# --- other.py
class property:
    def __init__(self, f):
        self.f = f

    def __get__(self, obj, cls):
        return self.f(obj)

class cached_property(property):
    pass

class overload:
    def __init__(self, f):
        self.f = f

    def __call__(self, *args):
        return self.f(*args)

# --- app.py
from lib import T, sized, whole

def use():
    return T().here, T().there, whole(), sized(1)
"""


def test_decorators_of_the_repository_with_names_of_the_library(tmp_path: Path) -> None:
    """What is named ``cached_property`` or ``overload`` here is called as what it is."""
    assert answer(OWN_DECORATORS, "app:use", "m.use()", tmp_path) == "(1, 1, 2, 1)"
