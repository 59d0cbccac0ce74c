"""``depslice slice --check`` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

from functional.running import Depslice


def test_without_a_sandbox_it_says_what_is_given_up(depslice: Depslice, shop: Path) -> None:
    done = depslice("slice", shop, "shop.text:money", "--check", "--unsafe-no-sandbox")
    assert done.code == 0, done.err
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
    done = depslice("slice", shop, "shop.text:money", "--check")
    assert done.code == 0
    assert "no call recorded" in done.err


def test_an_interpreter_that_is_none(depslice: Depslice, shop: Path, tmp_path: Path) -> None:
    done = depslice(
        *("slice", shop, "shop.text:money", "--check"),
        *("--check-python", tmp_path / "nothing"),
    )
    assert done.code == 2
    assert "there is no Python" in done.error


def test_calls_that_are_not_there(depslice: Depslice, shop: Path, tmp_path: Path) -> None:
    done = depslice(
        *("slice", shop, "shop.text:money", "--check"),
        *("--calls", tmp_path / "nothing.py"),
    )
    assert done.code == 3
    assert "cannot read" in done.error
