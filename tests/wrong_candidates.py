"""Twenty functions, each with a harness and five candidates that are wrong.

The faults are of the kinds that people and models make: a border, an order, a case that
was forgotten, an argument that is changed, another exception, another type.
"""

from __future__ import annotations

from textwrap import dedent
from typing import Final

SOURCE: Final = '''\
"""Small functions of many kinds."""
from collections import Counter
from dataclasses import dataclass, replace


def clamp(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x


def slug(text):
    words = []
    for word in text.lower().split():
        kept = "".join(c for c in word if c.isalnum())
        if kept:
            words.append(kept)
    return "-".join(words)


def roman(n):
    if not 0 < n < 4000:
        raise ValueError(n)
    out = ""
    for value, sign in (
        (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
        (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
    ):
        while n >= value:
            out += sign
            n -= value
    return out


def chunks(items, size):
    if size < 1:
        raise ValueError("size")
    for start in range(0, len(items), size):
        yield items[start : start + size]


def median(values):
    ordered = sorted(values)
    if not ordered:
        raise ValueError("empty")
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def merge(one, two):
    out = []
    i = j = 0
    while i < len(one) and j < len(two):
        if two[j] < one[i]:
            out.append(two[j])
            j += 1
        else:
            out.append(one[i])
            i += 1
    return out + one[i:] + two[j:]


def balanced(text):
    pairs = {")": "(", "]": "[", "}": "{"}
    stack = []
    for sign in text:
        if sign in pairs.values():
            stack.append(sign)
        elif sign in pairs:
            if not stack or stack.pop() != pairs[sign]:
                return False
    return not stack


def run_lengths(text):
    out = []
    for sign in text:
        if out and out[-1][0] == sign:
            out[-1] = (sign, out[-1][1] + 1)
        else:
            out.append((sign, 1))
    return out


def flatten(value):
    out = []
    for each in value:
        if isinstance(each, (list, tuple)):
            out += flatten(each)
        else:
            out.append(each)
    return out


def search(items, wanted):
    low, high = 0, len(items)
    while low < high:
        middle = (low + high) // 2
        if items[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < len(items) and items[low] == wanted else -1


def leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def most_common(words, n=3):
    counted = Counter(words)
    return sorted(counted, key=lambda w: (-counted[w], w))[:n]


def drop_none(table):
    for key in [k for k, v in table.items() if v is None]:
        del table[key]
    return table


def parse_size(text):
    units = {"": 1, "k": 1024, "m": 1024**2}
    text = text.strip().lower()
    number = text.rstrip("km")
    unit = text[len(number):]
    if not number.isdigit() or unit not in units:
        raise ValueError(f"no size: {text!r}")
    return int(number) * units[unit]


def greet(name, loud=False):
    text = f"Hello, {name or 'you'}"
    print(text.upper() + "!" if loud else text)


def transpose(rows):
    if len({len(row) for row in rows}) > 1:
        raise ValueError("ragged")
    return [list(column) for column in zip(*rows)]


@dataclass
class Account:
    owner: str
    balance: int = 0
    closed: bool = False

    def withdraw(self, amount):
        if self.closed:
            raise RuntimeError("closed")
        if amount <= 0 or amount > self.balance:
            raise ValueError(amount)
        self.balance -= amount
        return self.balance

    def renamed(self, owner):
        return replace(self, owner=owner.strip())

    @property
    def label(self):
        if self.closed:
            return f"{self.owner} (closed)"
        return f"{self.owner}: {self.balance}"

    @classmethod
    def parsed(cls, text):
        owner, _, balance = text.partition("=")
        return cls(owner.strip(), int(balance or 0))
'''

# Target: the statements of its test (`c` is the context), and the wrong candidates.
CASES: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "clamp": (
        "for x in range(-3, 14): c.check(x, 0, 10)\nc.check(5, 8, 2)\nc.check(1.5, 0, 1)",
        (
            "def clamp(x, low, high): return max(low, x)",
            "def clamp(x, low, high): return min(x, high)",
            "def clamp(x, low, high): return max(low, min(x, high - 1))",
            "def clamp(x, low, high): return x",
            "def clamp(x, low, high): return float(max(low, min(x, high)))",
        ),
    ),
    "slug": (
        "for t in ('', 'Hello World', ' a  b ', 'It\\'s 5!', '-- x --', 'A-B c'): c.check(t)",
        (
            "def slug(text): return '-'.join(text.lower().split())",
            "def slug(text): return '_'.join(''.join(c for c in w if c.isalnum()) for w in text.lower().split())",
            "def slug(text): return '-'.join(''.join(c for c in w if c.isalnum()) for w in text.split())",
            "def slug(text): return '-'.join(''.join(c for c in w if c.isalnum()) for w in text.lower().split())",
            "def slug(text): return ''.join(c for c in text.lower() if c.isalnum())",
        ),
    ),
    "roman": (
        "for n in (1, 3, 4, 9, 14, 40, 90, 400, 444, 900, 1994, 3999, 0, 4000, -1): c.check(n)",
        (
            "def roman(n):\n out = ''\n for v, s in ((1000,'M'),(500,'D'),(100,'C'),(50,'L'),(10,'X'),(5,'V'),(1,'I')):\n  while n >= v:\n   out += s\n   n -= v\n return out",
            "def roman(n): return ''",
            "def roman(n): return 'I' * n",
            "def roman(n):\n if not 0 < n <= 4000: raise ValueError(n)\n out = ''\n for v, s in ((1000,'M'),(900,'CM'),(500,'D'),(400,'CD'),(100,'C'),(90,'XC'),(50,'L'),(40,'XL'),(10,'X'),(9,'IX'),(5,'V'),(4,'IV'),(1,'I')):\n  while n >= v:\n   out += s\n   n -= v\n return out",
            "def roman(n):\n if not 0 < n < 4000: raise ValueError('range')\n out = ''\n for v, s in ((1000,'M'),(900,'CM'),(500,'D'),(400,'CD'),(100,'C'),(90,'XC'),(50,'L'),(40,'XL'),(10,'X'),(9,'IX'),(5,'V'),(4,'IV'),(1,'I')):\n  while n >= v:\n   out += s\n   n -= v\n return out",
        ),
    ),
    "chunks": (
        "for n in range(6):\n    for size in (1, 2, 3, 9): c.check(list(range(n)), size)\nc.check([1], 0)\nc.check('abc', 2)",
        (
            "def chunks(items, size):\n for s in range(0, len(items), size): yield items[s:s + size]",
            "def chunks(items, size):\n if size < 1: raise ValueError('size')\n return [items[s:s + size] for s in range(0, len(items), size)]",
            "def chunks(items, size):\n if size < 1: raise ValueError('size')\n for s in range(0, len(items) - size + 1, size): yield items[s:s + size]",
            "def chunks(items, size):\n if size < 1: raise ValueError('size')\n for s in range(0, len(items), size): yield list(items[s:s + size])",
            "def chunks(items, size):\n if size < 1: raise ValueError('size')\n while items:\n  yield items[:size]\n  del items[:size]",
        ),
    ),
    "median": (
        "for v in ([3], [1, 2], [5, 1, 3], [4, 1, 3, 2], [], (2.5, 1), [10, 2, 33, 4]): c.check(v)",
        (
            "def median(values): return sorted(values)[len(values) // 2]",
            "def median(values):\n if not values: raise ValueError('empty')\n v = list(values); m = len(v) // 2\n return v[m] if len(v) % 2 else (v[m - 1] + v[m]) / 2",
            "def median(values):\n if not values: raise ValueError('empty')\n v = sorted(values); m = len(v) // 2\n return v[m] if len(v) % 2 else (v[m - 1] + v[m]) // 2",
            "def median(values):\n if not values: return None\n v = sorted(values); m = len(v) // 2\n return v[m] if len(v) % 2 else (v[m - 1] + v[m]) / 2",
            "def median(values):\n if not values: raise ValueError('empty')\n values = values if isinstance(values, list) else list(values)\n values.sort(); m = len(values) // 2\n return values[m] if len(values) % 2 else (values[m - 1] + values[m]) / 2",
        ),
    ),
    "merge": (
        "for one, two in (([], []), ([1], []), ([], [2]), ([1, 3, 5], [2, 3, 4]), ([1, 2], [3]), ([1], [1.0, 2])): c.check(one, two)",
        (
            "def merge(one, two): return one + two",
            "def merge(one, two): return sorted(set(one + two))",
            "def merge(one, two):\n one.extend(two)\n one.sort()\n return one",
            "def merge(one, two):\n out = []\n while one and two: out.append((one if one[0] <= two[0] else two).pop(0))\n return out + one + two",
            "def merge(one, two): return sorted(two + one)",
        ),
    ),
    "balanced": (
        "for t in ('', '()', '([{}])', '(', ')', '(]', '([)]', 'a(b)c', '}{', '(('): c.check(t)",
        (
            "def balanced(text): return all(text.count(a) == text.count(b) for a, b in ('()', '[]', '{}'))",
            "def balanced(text):\n n = 0\n for s in text:\n  n += (s in '([{') - (s in ')]}')\n  if n < 0: return False\n return n == 0",
            "def balanced(text): return True",
            "def balanced(text):\n p = {')': '(', ']': '[', '}': '{'}; st = []\n for s in text:\n  if s in p.values(): st.append(s)\n  elif s in p and (not st or st.pop() != p[s]): return False\n return True",
            "def balanced(text):\n p = {')': '(', ']': '[', '}': '{'}; st = []\n for s in text:\n  if s in p.values(): st.append(s)\n  elif s in p and st.pop() != p[s]: return False\n return not st",
        ),
    ),
    "run_lengths": (
        "for t in ('', 'a', 'aab', 'abba', 'aaa', 'abab'): c.check(t)",
        (
            "from itertools import groupby\ndef run_lengths(text): return [[k, len(list(g))] for k, g in groupby(text)]",
            "def run_lengths(text): return [(s, text.count(s)) for s in dict.fromkeys(text)]",
            "from itertools import groupby\ndef run_lengths(text): return [(k, len(list(g))) for k, g in groupby(sorted(text))]",
            "from itertools import groupby\ndef run_lengths(text): return ((k, len(list(g))) for k, g in groupby(text))",
            "from itertools import groupby\ndef run_lengths(text): return [(k, len(list(g)) - 1) for k, g in groupby(text)]",
        ),
    ),
    "flatten": (
        "for v in ([], [1], [1, [2, [3]]], [(1, 2), 3], [[], [[]]], ['ab', ['cd']]): c.check(v)",
        (
            "def flatten(value): return [x for each in value for x in (each if isinstance(each, list) else [each])]",
            "def flatten(value): return [y for e in value for y in (flatten(e) if isinstance(e, list) else [e])]",
            "def flatten(value): return list(value)",
            "def flatten(value): return tuple(y for e in value for y in (flatten(e) if isinstance(e, (list, tuple)) else [e]))",
            "def flatten(value): return [y for e in value for y in (flatten(e) if hasattr(e, '__iter__') and len(e) > 1 else [e])]",
        ),
    ),
    "search": (
        "for items in ([], [1], [1, 3, 5, 7], [1, 2, 2, 2, 3]):\n    for w in range(9): c.check(items, w)",
        (
            "def search(items, wanted): return items.index(wanted)",
            "def search(items, wanted): return wanted in items",
            "def search(items, wanted):\n for n in range(len(items) - 1, -1, -1):\n  if items[n] == wanted: return n\n return -1",
            "def search(items, wanted): return items.index(wanted) if wanted in items else None",
            "def search(items, wanted): return items.index(wanted) if wanted in items[:-1] else -1",
        ),
    ),
    "leap": (
        "for y in (1, 4, 100, 400, 1900, 2000, 2023, 2024, 2100): c.check(y)",
        (
            "def leap(year): return year % 4 == 0",
            "def leap(year): return year % 4 == 0 and year % 100 != 0",
            "def leap(year): return year % 400 == 0",
            "def leap(year): return int(year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))",
            "def leap(year): return year % 4 == 0 or (year % 100 != 0 and year % 400 == 0)",
        ),
    ),
    "most_common": (
        "c.check([])\nc.check(['b', 'a', 'b', 'c', 'a', 'd'])\nc.check(['x', 'y', 'y', 'z'], 1)\nc.check(['b', 'a'], n=2)\nc.check(['a', 'b', 'c', 'd'])",
        (
            "def most_common(words, n=3): return [w for w, _ in Counter(words).most_common(n)]",
            "def most_common(words, n=3): return sorted(set(words))[:n]",
            "def most_common(words, n=3):\n c = Counter(words)\n return sorted(c, key=lambda w: (c[w], w))[:n]",
            "def most_common(words, n=3):\n c = Counter(words)\n return sorted(c, key=lambda w: (-c[w], w))",
            "def most_common(words, n=3):\n c = Counter(words)\n return [(w, c[w]) for w in sorted(c, key=lambda w: (-c[w], w))[:n]]",
        ),
    ),
    "drop_none": (
        "c.check({})\nc.check({'a': None, 'b': 0})\nc.check({'a': '', 'b': None, 'c': [None]})",
        (
            "def drop_none(table): return {k: v for k, v in table.items() if v is not None}",
            "def drop_none(table):\n for k in [k for k, v in table.items() if not v]: del table[k]\n return table",
            "def drop_none(table):\n for k in [k for k, v in table.items() if v is None]: del table[k]",
            "def drop_none(table):\n for k, v in table.items():\n  if v is None: del table[k]\n return table",
            "def drop_none(table):\n for k in [k for k, v in table.items() if v is None]: del table[k]\n return dict(table)",
        ),
    ),
    "parse_size": (
        "for t in ('0', '12', '3k', ' 4M ', '', 'k', '5g', '-1', '1.5k', '2kk', '7km'): c.check(t)",
        (
            "def parse_size(text): return int(text)",
            "def parse_size(text):\n u = {'': 1, 'k': 1000, 'm': 1000**2}; text = text.strip().lower(); n = text.rstrip('km')\n if not n.isdigit() or text[len(n):] not in u: raise ValueError(f'no size: {text!r}')\n return int(n) * u[text[len(n):]]",
            "def parse_size(text):\n u = {'': 1, 'k': 1024, 'm': 1024**2}; text = text.lower(); n = text.rstrip('km')\n if not n.isdigit() or text[len(n):] not in u: raise ValueError(f'no size: {text!r}')\n return int(n) * u[text[len(n):]]",
            "def parse_size(text):\n u = {'': 1, 'k': 1024, 'm': 1024**2}; text = text.strip().lower(); n = text.rstrip('km')\n return int(n) * u[text[len(n):]]",
            "def parse_size(text):\n u = {'': 1, 'k': 1024, 'm': 1024**2}; text = text.strip().lower(); n = text.rstrip('km')\n if not n.isdigit(): raise ValueError(f'no size: {text!r}')\n return int(n) * u.get(text[len(n):], 1)",
        ),
    ),
    "greet": (
        "c.check('Ann')\nc.check('')\nc.check('Bob', loud=True)\nc.check('', True)",
        (
            "def greet(name, loud=False): print(f'Hello, {name}')",
            "def greet(name, loud=False): return f\"Hello, {name or 'you'}\"",
            "import sys\ndef greet(name, loud=False):\n t = f\"Hello, {name or 'you'}\"\n print(t.upper() + '!' if loud else t, file=sys.stderr)",
            "def greet(name, loud=False):\n t = f\"Hello, {name or 'you'}\"\n print((t + '!').upper())",
            "def greet(name, loud=False):\n t = f\"Hello, {name or 'you'}\"\n print(t.upper() + '!' if loud else t, end='')",
        ),
    ),
    "transpose": (
        "for rows in ([], [[1]], [[1, 2], [3, 4]], [[1, 2, 3]], [(1,), (2,)], [[1], [2, 3]]): c.check(rows)",
        (
            "def transpose(rows): return [list(c) for c in zip(*rows)]",
            "def transpose(rows):\n if len({len(r) for r in rows}) > 1: raise ValueError('ragged')\n return list(zip(*rows))",
            "def transpose(rows): return rows",
            "def transpose(rows):\n if len({len(r) for r in rows}) > 1: raise TypeError('ragged')\n return [list(c) for c in zip(*rows)]",
            "def transpose(rows): return [[r[n] for r in rows] for n in range(len(rows[0]))]",
        ),
    ),
    "Account.withdraw": (
        "for a in (1, 5, 10, 11, 0, -3): c.check(Account('x', 10), a)\nc.check(Account('x', 5, True), 1)",
        (
            "def withdraw(self, amount):\n self.balance -= amount\n return self.balance",
            "def withdraw(self, amount):\n if amount <= 0 or amount > self.balance: raise ValueError(amount)\n self.balance -= amount\n return self.balance",
            "def withdraw(self, amount):\n if self.closed: raise RuntimeError('closed')\n if amount <= 0 or amount >= self.balance: raise ValueError(amount)\n self.balance -= amount\n return self.balance",
            "def withdraw(self, amount):\n if self.closed: raise RuntimeError('closed')\n if amount <= 0 or amount > self.balance: raise ValueError(amount)\n return self.balance - amount",
            "def withdraw(self, amount):\n if self.closed: raise RuntimeError('closed')\n self.balance -= amount\n if amount <= 0 or self.balance < 0: raise ValueError(amount)\n return self.balance",
        ),
    ),
    "Account.renamed": (
        "c.check(Account('x', 3), ' y ')\nc.check(Account('x', 3, True), 'z')",
        (
            "def renamed(self, owner):\n self.owner = owner.strip()\n return self",
            "def renamed(self, owner): return replace(self, owner=owner)",
            "def renamed(self, owner): return Account(owner.strip(), self.balance)",
            "def renamed(self, owner): return Account(owner.strip())",
            "def renamed(self, owner): return (owner.strip(), self.balance, self.closed)",
        ),
    ),
    "Account.label": (
        "c.check(Account('x', 3))\nc.check(Account('y', 0, True))\nc.check(Account('', 0))",
        (
            "def label(self): return f'{self.owner}: {self.balance}'",
            "def label(self): return f'{self.owner} (closed)' if self.closed else self.owner",
            "def label(self): return f'{self.owner} (closed)' if not self.balance else f'{self.owner}: {self.balance}'",
            "def label(self): return f'{self.owner} (CLOSED)' if self.closed else f'{self.owner}: {self.balance}'",
            "def label(self): return str(self)",
        ),
    ),
    "Account.parsed": (
        "for t in ('a=1', ' b = 20', 'c', 'd=', '=5', 'e=x', 'f=1=2'): c.check(t)",
        (
            "def parsed(cls, text):\n o, b = text.split('=')\n return cls(o.strip(), int(b or 0))",
            "def parsed(cls, text):\n o, _, b = text.partition('=')\n return cls(o, int(b or 0))",
            "def parsed(cls, text):\n o, _, b = text.rpartition('=')\n return cls(o.strip(), int(b or 0))",
            "def parsed(cls, text):\n o, _, b = text.partition('=')\n return cls(o.strip(), b)",
            "def parsed(cls, text):\n o, _, b = text.partition('=')\n return cls(o.strip(), int(b or 1))",
        ),
    ),
}


def harness_of(target: str) -> str:
    """The harness for a target."""
    body = dedent(CASES[target][0]).replace("\n", "\n    ")
    return f"from small import Account\ndef test_all(context):\n    c = context\n    {body}\n"
