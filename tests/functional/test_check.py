"""``depslice slice --check`` from the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from functional.running import Depslice


def test_without_a_sandbox_it_says_what_is_given_up(depslice: Depslice, shop: Path) -> None:
    done = depslice("slice", shop, "shop.text:money", "--check", "--unsafe-no-sandbox")
    assert done.code == 3, done.err  # it has no tests
    assert "no sandbox: the code can read and change whatever you can" in done.err
    done = depslice(
        *("slice", shop, "shop.text:money", "--check"), *("--unsafe-no-sandbox", "--sandbox", "x")
    )
    assert done.code == 2
    done = depslice("slice", shop, "shop.text:money", "--check", "--sandbox", "x")
    assert done.code == 3
    assert "no sandbox is called 'x'" in done.error


def test_what_is_checked_cannot_reach_the_machine(
    depslice: Depslice, shop: Path, tmp_path: Path
) -> None:
    calls = tmp_path / "calls.py"
    mark = tmp_path / "mark"
    calls.write_text(
        f"import os, shop.text\ntry: open({str(mark)!r}, 'w')\nexcept OSError: shop.text.money(1)\n"
    )
    done = depslice("slice", shop, "shop.text:money", "--check", "--calls", calls)
    assert done.code == 0, done.err
    assert "1 call recorded" in done.err
    assert not mark.exists()
    assert "calls.py: " not in done.err
    calls.write_text("import shop.text\nshop.text.money(1)\n1 / 0\n")
    done = depslice("slice", shop, "shop.text:money", "--check", "--calls", calls)
    assert done.code == 0, done.err
    assert "  calls.py: it ended with ZeroDivisionError: division by zero\n" in done.err


def test_options_that_go_with_check(depslice: Depslice, shop: Path) -> None:
    allowed = ("--check",)
    for arguments in (
        ("--repair",),
        ("--calls", "x.py"),
        ("--report", "x.json"),
        ("--sandbox", "unsafe"),
        ("--unsafe-no-sandbox",),
        (*allowed, "--depth", "1"),
        (*allowed, "--budget", "100"),
        (*allowed, "--strategy", "full"),
    ):
        done = depslice("slice", shop, "shop.text:money", *arguments)
        assert done.code == 2, arguments
        assert "--check" in done.error
    assert depslice("slice", shop, "--all", *allowed).code == 2


def test_a_script_of_calls(depslice: Depslice, shop: Path, tmp_path: Path) -> None:
    calls = tmp_path / "calls.py"
    calls.write_text("import shop.text\nshop.text.money(3.5)\nshop.text.money(1)\n")
    report = tmp_path / "report.json"
    before = sorted(str(path) for path in shop.rglob("*"))
    done = depslice(
        *("slice", shop, "shop.text:money", "--check"),
        *("--calls", calls, "--report", report),
    )
    assert done.code == 0, done.err
    assert done.out == depslice("slice", shop, "shop.text:money").out
    assert "2 calls recorded, 2 replayed, 2 gave the same" in done.err
    document = json.loads(report.read_text())
    assert document["schema"] == "depslice.check/1"
    assert document["verdict"] == "same"
    assert sorted(str(path) for path in shop.rglob("*")) == before


def test_no_tests_at_all(depslice: Depslice, shop: Path) -> None:
    done = depslice("slice", shop, "shop.text:money", "--check", "-q")
    assert done.code == 3
    assert "no call recorded" in done.err  # quiet or not: it is what was asked for
    assert "unresolved" not in done.err


def test_an_interpreter_that_is_none(depslice: Depslice, shop: Path, tmp_path: Path) -> None:
    done = depslice(
        *("slice", shop, "shop.text:money", "--check"),
        *("--check-python", tmp_path / "nothing"),
    )
    assert done.code == 2
    assert "there is no Python" in done.error


def test_the_folder_of_an_environment(depslice: Depslice, shop: Path) -> None:
    done = depslice("slice", shop, "shop.text:money", "--check", "--check-python", sys.prefix)
    assert done.code == 3, done.err
    assert "no call recorded" in done.err


def test_calls_that_are_not_there(depslice: Depslice, shop: Path, tmp_path: Path) -> None:
    done = depslice(
        *("slice", shop, "shop.text:money", "--check"),
        *("--calls", tmp_path / "nothing.py"),
    )
    assert done.code == 3
    assert "cannot read" in done.error
    done = depslice(
        *("slice", shop, "shop.config:SETTINGS", "--check"), *("--calls", tmp_path / "nothing.py")
    )
    assert done.code == 3
    assert "cannot read" in done.error


def test_an_interpreter_that_is_no_python(depslice: Depslice, shop: Path) -> None:
    for target in ("shop.text:money", "shop.config:SETTINGS"):
        done = depslice("slice", shop, target, "--check", "--check-python", "/bin/true")
        assert done.code == 3
        assert "/bin/true does not run the check: it did nothing" in done.error


def _tested(folder: Path, **tests: str) -> Path:
    """A repository whose settings for pytest name plug-ins and folders."""
    (folder / "tests" / "cases").mkdir(parents=True)
    (folder / "prices.py").write_text(
        "def double(amount):\n    return amount * 2\n\n\ndef half(amount):\n    return amount / 2\n"
    )
    (folder / "pyproject.toml").write_text(
        "[tool.pytest.ini_options]\n"
        "addopts = \"--cov=prices --strict-markers -m 'not slow' --ignore=tests/test_ignored.py\"\n"
        'markers = ["slow"]\nnorecursedirs = ["tests/cases"]\ntestpaths = ["tests"]\n'
    )
    for name, text in tests.items():
        path = folder / "tests" / f"{name.replace('__', '/')}.py"
        path.write_text(text)
    return folder


def test_tests_are_run_as_their_settings_say(depslice: Depslice, tmp_path: Path) -> None:
    stops = "import prices\nprices.double = None\n"
    repo = _tested(
        tmp_path / "repo",
        test_double="import prices\n\n\ndef test_double():\n    assert prices.double(2) == 4\n",
        test_ignored=stops,
        cases__test_case=stops,
        test_slow=(
            "import prices, pytest\n\n\n@pytest.mark.slow\ndef test_more():\n"
            "    prices.double(3)\n\n\ndef test_quick():\n    prices.double(4)\n"
        ),
    )
    (repo / "test_elsewhere.py").write_text(stops)
    done = depslice("slice", repo, "prices:double", "--check")
    assert done.code == 0, done.err
    assert "2 calls recorded, 2 replayed, 2 gave the same" in done.err


def test_a_test_file_that_cannot_be_imported(depslice: Depslice, tmp_path: Path) -> None:
    repo = _tested(
        tmp_path / "repo",
        test_lacking="import nowhere_to_be_found\n",
        test_double="import prices\n\n\ndef test_double():\n    assert prices.double(2) == 4\n",
    )
    done = depslice("slice", repo, "prices:double", "--check")
    assert "1 call recorded, 1 replayed, 1 gave the same" in done.err
    done = depslice("slice", repo, "prices:half", "--check")
    assert "no test calls it, but a test file could not be imported: tests/test_lacking.py" in (
        done.err
    )
    assert "No module named 'nowhere_to_be_found'" in done.err


def test_tests_none_of_which_can_be_imported(depslice: Depslice, tmp_path: Path) -> None:
    repo = _tested(tmp_path / "repo", test_lacking="import nowhere_to_be_found\n")
    done = depslice("slice", repo, "prices:double", "--check")
    assert done.code == 3, done.err
    assert "the tests could not be run" in done.error
    assert "nowhere_to_be_found" in done.error


def test_a_python_without_pytest_is_an_error(
    depslice: Depslice, tmp_path: Path, bare_python: Path
) -> None:
    """It was told as "no test calls it", with exit code 0."""
    test = "import prices\n\n\ndef test_half():\n    prices.half(2)\n"
    repo = _tested(tmp_path / "repo", test_half=test)
    done = depslice("slice", repo, "prices:half", "--check", "--check-python", bare_python)
    assert done.code == 3, done.err
    assert "the tests could not be run by" in done.error
    assert "No module named 'pytest'" in done.error
    assert "hint: --check-python names an interpreter that has pytest" in done.err


def test_the_environment_of_the_tests_is_made(depslice: Depslice, tmp_path: Path) -> None:
    """What only REPO's tests declare is there: depslice's own Python has no `colorama`."""
    test = "import colorama, prices\n\n\ndef test_half():\n    prices.half(2)\n"
    repo = _tested(tmp_path / "repo", test_half=test)
    (repo / "pyproject.toml").write_text(
        '[project]\nname = "prices"\nversion = "1"\n[tool.setuptools]\npy-modules = ["prices"]\n'
        '[dependency-groups]\ntest = ["colorama"]\n'
    )
    done = depslice("slice", repo, "prices:half", "--check")
    assert "No module named 'colorama'" in done.err
    done = depslice("slice", repo, "prices:half", "--check", "--make-environment")
    assert done.code == 0, done.err
    assert "same" in done.err
    for also in (["--check", "--check-python", sys.executable], []):
        done = depslice("slice", repo, "prices:half", "--make-environment", *also)
        assert done.code == 2
        assert "--make-environment" in done.error


def test_tests_that_end_the_process_are_told(depslice: Depslice, tmp_path: Path) -> None:
    repo = _tested(
        tmp_path / "repo",
        test_half=(
            "import os, prices\n\n\ndef test_ending():\n    os._exit(0)\n\n\n"
            "def test_half():\n    prices.half(2)\n"
        ),
    )
    done = depslice("slice", repo, "prices:half", "--check")
    assert done.code == 3, done.err
    assert "what was run has ended the process itself (os._exit)" in done.error


def test_what_keeps_pytest_from_starting_is_said(depslice: Depslice, tmp_path: Path) -> None:
    repo = _tested(
        tmp_path / "repo",
        conftest=(
            "def pytest_sessionstart(session):\n"
            "    raise RuntimeError('the option \"scope\" is unset.\\nIt will be ' + 'needed ' * 99)\n"
        ),
        test_double="import prices\n\n\ndef test_double():\n    assert prices.double(2) == 4\n",
    )
    done = depslice("slice", repo, "prices:double", "--check")
    assert done.code == 3, done.err
    assert ': RuntimeError: the option "scope" is unset. It will be needed needed' in done.error
    assert "INTERNALERROR" not in done.err
    assert done.error.endswith(" needed …")


def test_a_class_is_checked_by_its_methods(depslice: Depslice, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "till.py").write_text(
        "class Till:\n    def __init__(self, sum):\n        self.sum = sum\n\n"
        "    @property\n    def total(self):\n        return f'{self.sum} €'\n\n\n"
        "class Empty:\n    pass\n",
        encoding="utf-8",
    )
    calls = tmp_path / "calls.py"
    calls.write_text("import till\ntill.Till(3).total\n", encoding="utf-8")
    done = depslice("slice", repo, "till:Till", "--check", "--calls", calls)
    assert done.code == 0, done.err
    assert "2 calls recorded, 2 replayed, 2 gave the same" in done.err
    done = depslice("slice", repo, "till:Empty", "--check", "--calls", calls)
    assert done.code == 3, done.err
    assert "till:Empty: no call recorded: neither a function nor a class with methods" in done.err


def test_modules_of_one_name_are_those_beside_the_target(
    depslice: Depslice, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "tests").mkdir(parents=True)
        (tmp_path / name / "helpers.py").write_text(f"def label(x):\n    return x + '{name}'\n")
        (tmp_path / name / f"service_{name}.py").write_text(
            "from helpers import label\n\n\ndef serve(x):\n    return label(x)\n"
        )
        (tmp_path / name / "tests" / f"test_{name}.py").write_text(
            f"from service_{name} import serve\n\n\ndef test_it():\n    serve('a')\n"
        )
    for name in ("one", "two"):
        report = tmp_path / f"{name}.json"
        target = f"service_{name}:serve"
        done = depslice("slice", tmp_path, target, "--check", "--report", report)
        assert done.code == 0, done.err
        document = json.loads(report.read_text())
        assert document["calls"]["same"] == 1
        assert document["never_executed"] == []  # its own helper ran


def test_it_is_told_why_no_call_was_recorded(
    depslice: Depslice, shop: Path, tmp_path: Path
) -> None:
    done = depslice("slice", shop, "shop.text:money", "--check", "--repair")
    assert done.code == 3
    assert "shop.text:money: no call recorded: the repository has no tests" in done.err
    assert "hint: --calls FILE" in done.err
    assert "--repair had nothing to go by" in done.err
    calls = tmp_path / "calls.py"
    calls.write_text("import shop.text\n1 / 0\nshop.text.money(1)\n")
    done = depslice("slice", shop, "shop.text:money", "--check", "--calls", calls)
    assert done.code == 3
    why = "calls.py does not call it, but it ended with ZeroDivisionError: division by zero"
    assert why in done.err
    assert "hint" not in done.err
    tests = """
import pytest, prices
def test_lacking(nothing_of_this_name): prices.half(1)
@pytest.mark.skip(reason="needs a network")
def test_skipped(): prices.half(2)
"""
    repo = _tested(tmp_path / "repo", test_half=tests)
    done = depslice("slice", repo, "prices:half", "--check")
    assert done.code == 3
    assert (
        "no test calls it, but a test failed: tests/test_half.py::test_lacking:"
        " fixture 'nothing_of_this_name' not found; a test was skipped:"
        " tests/test_half.py::test_skipped: needs a network"
    ) in done.err


def test_tests_that_take_too_long(depslice: Depslice, tmp_path: Path) -> None:
    slow = "import time\n\n\ndef test_slow():\n    time.sleep(60)\n"
    repo = _tested(tmp_path / "repo", test_waiting=slow)
    done = depslice("slice", repo, "prices:half", "--check", "--check-seconds", "4")
    assert done.code == 3, done.err
    told = "no test calls it, but the tests did not end within the limit of --check-seconds"
    assert told in done.err


def test_a_class_inside_a_class_that_only_the_caller_has(
    depslice: Depslice, tmp_path: Path
) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "shelf.py").write_text(
        "class Shelf:\n    def copy(self):\n        return self\n\n\n"
        "class Linked(Shelf):\n    class Link:\n        pass\n\n"
        "    def __init__(self):\n        self.link = Linked.Link()\n",
        encoding="utf-8",
    )
    calls = tmp_path / "calls.py"
    calls.write_text("import shelf\nshelf.Linked().copy()\n", encoding="utf-8")
    done = depslice("slice", repo, "shelf:Shelf.copy", "--check", "--calls", calls)
    assert done.code == 0, done.err
    assert "1 replayed, 1 gave the same" in done.err
