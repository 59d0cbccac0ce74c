"""Bad input gets one clear line and an exit code; never a traceback."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from functional.running import Depslice


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), None),
        (("slcie",), "no command 'slcie'; did you mean 'slice'?"),
        (("cache",), "missing command"),
        (("graph",), "missing argument 'REPO'"),
        (("slice", "SHOP"), "give TARGETs, or --all"),
        (("slice", "SHOP", "--all", "f"), "not both"),
        (("slice", "SHOP", "--all", "--format", "md"), "lines of JSON"),
        (("slice", "SHOP", "plural", "--depth", "-1"), "--depth"),
        (("slice", "SHOP", "plural", "--budget", "0"), "--budget"),
        (("slice", "SHOP", "plural", "--budget", "many"), "--budget"),
        (("slice", "SHOP", "plural", "--format", "pdf"), "--format"),
        (("slice", "SHOP", "plural", "--format", "module", "--usages", "1"), "module"),
        (("slice", "SHOP", "plural", "--workers", "0"), "--workers"),
        (("slice", "SHOP", "plural", "--frobnicate"), "--frobnicate"),
        (("slice", "SHOP", "plural", "-q", "-v"), "exclude each other"),
        (("slice", "SHOP", "plural", "--tokenizer", "gpt"), "--tokenizer"),
        (("tradeoff", "SHOP"), "missing argument 'TARGET"),
        (("tradeoff", "SHOP", "nope"), "no symbol is called 'nope'"),
        (("tradeoff", "SHOP", "plural", "--budget", "0"), "--budget"),
        (("tradeoff", "SHOP", "plural", "--format", "png"), "--format"),
        (("report", "SHOP"), "missing argument 'TARGET'"),
        (("report", "SHOP", "hint"), "'hint' may be any of 2 symbols"),
        (("report", "NOWHERE", "plural", "-o", "SHOP"), "is a directory"),
        (("tradeoff", "NOWHERE", "plural", "-o", ""), "the path to write to is empty"),
        (("slice", "NOWHERE", "f", "-o", "no/such/folder/x"), "there is no folder"),
        (("slice", "NOWHERE", "f", "--format", "tree", "-o", ""), "the path to write to is empty"),
        (("graph", "SHOP", "--callers"), "need a TARGET"),
        (("graph", "SHOP", "--resolver", "magic"), "magic"),
        (("slice", "SHOP", "plural", "--budget", "1e9"), "1e9 is not a whole number"),
        (("graph", "SHOP", "plural", "--compare", "x.json"), "takes no TARGET"),
        (("graph", "SHOP", "--format", "dot", "--compare", "x.json"), "text and json"),
        (("graph", "SHOP", "--compare", "x.json"), "cannot read x.json: no such file"),
        (("graph", "SHOP", "--compare", "SHOP/shop/text.py"), "not a trace"),
        (("graph", "SHOP", "--compare", "SHOP/shop/text.py"), "shop/text.py: not a trace: no JSON"),
        (
            ("slice", "SHOP", "plural", "--formt", "md"),
            "no option --formt; did you mean '--format'?",
        ),
        (("cache", "wipe"), "no command 'wipe': info, clear"),
        (("-q", "slice", "SHOP", "plural"), "no option -q"),
        (("serve", "NOWHERE", "--port", "80"), "--port goes with --transport http"),
        (("prompt", "NOWHERE", "f", "--format", "files"), "needs a folder: -o FOLDER"),
        (("refine", "NOWHERE", "f"), "--model is needed"),
        (("refine", "NOWHERE", "f", "--model", "gpt"), "'gpt' names no model"),
        (
            (
                "prompt",
                "SHOP",
                "f",
                "--verdict",
                "SHOP/shop/text.py",
                "--harness",
                "SHOP/shop/api.py",
            ),
            "is no verdict that rejects a harness",
        ),
        (("trace",), "missing argument 'COMMAND"),
        (("trace", "--root", "SHOP", "--", "no-such-program"), "no program 'no-such-program'"),
        (("trace", "--root", "NOWHERE", "--", "python"), "no such file or directory"),
        (("trace", "--root", "SHOP", "-o", "t", "--", "sh", "-c", "true"), "started no Python"),
        (("slice", "SHOP", "shop.api:qoute"), "no symbol is called 'shop.api:qoute'"),
        (("slice", "SHOP", "hint"), "'hint' may be any of 2 symbols"),
        (("slice", "SHOP", "shop/text.py:999"), "has 18 lines, no line 999"),
        (("slice", "SHOP", "shop/text.py:6"), "no definition on line 6"),
        (("slice", "SHOP", "shop/nowhere.py"), "no file shop/nowhere.py"),
        (("slice", "SHOP", ""), "the target is empty"),
        (("why", "SHOP", "shop.api:quote", "nope"), "no symbol is called 'nope'"),
        (("slice", "NOWHERE", "f"), "no such file or directory"),
        (("slice", "SHOP/../README.md", "f"), "not a directory or a Python file"),
        (("slice", "SHOP", "plural", "-o", "SHOP"), "is a directory"),
        (("slice", "SHOP", "plural", "-o", "/dev/null/x"), "cannot write"),
    ],
)
def test_misuse(
    depslice: Depslice, shop: Path, arguments: tuple[str, ...], said: str | None
) -> None:
    done = depslice(*(argument.replace("SHOP", str(shop)) for argument in arguments))
    assert done.code == 2
    assert done.out == ""
    if said is None:
        assert done.err.startswith("Usage: depslice")
    else:
        assert said in done.error
        assert len(done.err.splitlines()) < 10


@pytest.mark.parametrize(
    ("command", "option"), [("graph", "--explain"), ("serve", "--port"), ("slice", "--budget")]
)
def test_an_option_without_its_argument(depslice: Depslice, command: str, option: str) -> None:
    done = depslice(command, ".", option)
    assert done.code == 2
    assert f"  hint: see depslice {command} --help" in done.err.splitlines()


def test_the_analysed_code_is_never_replaced(
    depslice: Depslice, shop: Path, tmp_path: Path
) -> None:
    repo = tmp_path / "repo"
    shutil.copytree(shop, repo)

    def state() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in sorted(repo.rglob("*.py"))}

    before = state()
    source, link = repo / "shop" / "text.py", tmp_path / "link.py"
    link.symlink_to(source)
    for arguments in (
        ("slice", repo, "shop.text:plural", "-o", source),
        ("slice", repo, "shop.text:plural", "-o", link),
        ("slice", repo, "shop.text:plural", "--format", "tree", "-o", repo, "--force"),
        ("slice", repo, "--all", "-o", source),
        ("slice", repo, "shop.text:plural", "--check", "--report", source),
        ("graph", repo, "-o", source),
        ("functions", repo, "-o", source),
    ):
        done = depslice(*arguments)
        assert done.code != 0, arguments
        assert "is a file of the analysed code, which is never replaced" in done.error
        assert state() == before
    # What is not analysed may be replaced, also in the repository's folder.
    assert "--exclude '/shop/text.py'" in depslice("graph", repo, "-o", source).err
    assert depslice("graph", repo, "-o", repo / "graph.txt").code == 0
    assert depslice("graph", repo, "-o", repo / "graph.txt").code == 0
    tree = ("slice", repo, "shop.text:plural", "--format", "tree", "--force", "-o", repo / "out")
    assert depslice(*tree).code == 0
    assert "--exclude '/out/'" in depslice(*tree).err
    assert depslice(*tree, "--exclude", "/out/").code == 0


def test_candidates_are_listed(depslice: Depslice, shop: Path) -> None:
    assert "  nearest: shop.api:quote" in depslice("slice", shop, "shop.api:qoute").err
    ambiguous = depslice("slice", shop, "hint").err.splitlines()
    assert "    shop.errors:OutOfStock.hint" in ambiguous
    assert "    shop.errors:ShopError.hint" in ambiguous


def test_a_warning_of_a_file_is_no_reason_for_an_unknown_name(
    depslice: Depslice, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "app.py").write_text("import helper\n")
        (tmp_path / name / "helper.py").write_text("def help(): pass\n")
    assert "duplicate-module" in depslice("functions", tmp_path, "--verbose").err
    assert "cannot be analysed" not in depslice("slice", tmp_path, "nobody").err
    (tmp_path / "one" / "app.py").write_text("def nobody(:\n")
    assert "one/app.py cannot be analysed" in depslice("slice", tmp_path, "nobody").err


def test_an_empty_repository(depslice: Depslice, tmp_path: Path) -> None:
    done = depslice("graph", tmp_path)
    assert done.code == 2
    assert "no Python files" in done.error


def test_a_file_with_a_syntax_error(depslice: Depslice, tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("def f():\n    print 'hello'\n")
    (tmp_path / "new.py").write_text("import old\ndef g(): return old.f()\n")
    for target in ("old:f", "old.py:1", "old.f"):
        done = depslice("slice", tmp_path, target)
        assert done.code == 2
        assert "old.py cannot be analysed" in done.error
        assert "line 2" in done.error
    told = depslice("slice", tmp_path, "old.py:1").err
    assert "it looks like Python 2" in told
    assert "newer Python" not in told
    (tmp_path / "newer.py").write_text("def f():\n    let x = 1\n")
    told = depslice("slice", tmp_path, "newer.py:1").err
    assert "Python 2" not in told
    assert "with a newer Python" in told
    assert depslice("slice", tmp_path, "new:g").code == 0
    listed = depslice("functions", tmp_path)
    assert listed.code == 0
    assert "old.py:2: error:" in listed.err


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (b"print 'hello'\ndef f(): pass\n", "Missing parentheses in call to 'print'"),
        (b"def f(): pass\n\0", "the file contains NUL bytes"),
        (b"def f():\n    return '\xff'\n", "byte 0xff"),
        (b"# coding: klingon\ndef f(): pass\n", "unknown encoding: klingon"),
    ],
)
def test_a_bare_name_in_a_file_that_cannot_be_analysed(
    depslice: Depslice, tmp_path: Path, text: bytes, cause: str
) -> None:
    (tmp_path / "old.py").write_bytes(text)
    for repository in (tmp_path / "old.py", tmp_path):
        done = depslice("slice", repository, "f")
        assert (done.code, done.out) == (2, "")
        assert f"old.py cannot be analysed: {cause}" in " ".join(done.err.split())


DEEP = {
    "parentheses": "(" * 3000 + "x" + ")" * 3000,
    "sum": "x" + " + x" * 20_000,
    "minus": "-" * 3000 + "x",
    "calls": "x" + ".b()" * 5000,
    "lists": "[" * 150 + "x" + "]" * 150,
    "conditions": "x if x else " * 3000 + "x",
    "lambdas": "lambda: " * 1500 + "x",
}


@pytest.mark.parametrize("name", DEEP)
def test_a_deeply_nested_expression(depslice: Depslice, tmp_path: Path, name: str) -> None:
    (tmp_path / "deep.py").write_text(f"def f(x):\n    return {DEEP[name]}\n")
    done = depslice("slice", tmp_path, "deep:f", "--no-cache")
    if done.code:
        assert (done.code, done.out) == (2, "")
        assert "deep.py cannot be analysed" in done.error
    else:
        assert DEEP[name] in done.out


def test_deeply_nested_expressions_cost_their_files_alone(
    depslice: Depslice, tmp_path: Path
) -> None:
    for name, expression in DEEP.items():
        (tmp_path / f"{name}.py").write_text(f"def f(x):\n    return {expression}\n")
    (tmp_path / "flat.py").write_text("def f(x):\n    return x\n")
    (tmp_path / "sum.py").write_text("def f(x):\n    return " + " + ".join(["x"] * 4000) + "\n")
    for arguments in (
        ("graph", tmp_path, "--resolver", "jedi"),
        ("prompt", tmp_path, "sum:f"),
        ("graph", tmp_path),
        ("slice", tmp_path, "--all", "--workers", "2"),
    ):
        done = depslice(*arguments, "--no-cache")
        assert done.code == 0
        assert "Traceback" not in done.err
    assert '"target": "flat:f"' in done.out
    assert '"target": "lists:f"' in done.out
    assert '"error"' not in done.out


def test_a_generated_file_of_50_megabytes(depslice: Depslice, tmp_path: Path) -> None:
    (tmp_path / "small.py").write_text("def f(): pass\n")
    with (tmp_path / "huge.py").open("wb") as file:
        file.truncate(50 * 2**20)
    started = time.monotonic()
    done = depslice("functions", tmp_path, "-v")
    assert done.code == 0
    assert "small:f" in done.out
    assert "file-too-large" in done.err
    for arguments in (("slice", tmp_path, "huge.py:1"), ("functions", tmp_path / "huge.py")):
        refused = depslice(*arguments)
        assert refused.code == 2
        assert re.search("too-large|more than the limit", refused.error)
    assert time.monotonic() - started < 30


def test_symlink_loops(depslice: Depslice, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(): pass\n")
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "self.py").symlink_to(tmp_path / "self.py")
    done = depslice("functions", tmp_path)
    assert done.code == 0
    assert done.out == "a.py:1\tfunction\ta:f\n"
    assert "2 symlink-loop" in done.err
    assert depslice("functions", tmp_path / "self.py").code == 2


def test_a_file_that_cannot_be_read(environment: dict[str, str], shop: Path) -> None:
    """As another user, since root can read everything."""
    program = f"""
import os, sys, tempfile
from depslice.cli.main import main
repo = tempfile.mkdtemp()
os.chmod(repo, 0o755)
for name in ("open", "shut"):
    with open(f"{{repo}}/{{name}}.py", "w") as file:
        file.write("def f(): pass\\n")
os.chmod(f"{{repo}}/shut.py", 0)
for arguments in (["functions"], ["slice", "-q"]):  # import all there is to import
    main([arguments[0], {str(shop)!r}, *arguments[1:], *(["shop.api:sell"] * (len(arguments) - 1))])
main(["slice", {str(shop)!r}, "shop.api:sel"])
print("=" * 9, flush=True)
print("=" * 9, file=sys.stderr, flush=True)
if os.geteuid() == 0:
    os.seteuid(65534)
codes = [main(["functions", repo, "--no-cache"]), main(["slice", repo, "shut:f", "--no-cache"])]
os.seteuid(os.getuid())
sys.exit(codes[0] * 10 + codes[1])
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    out, err = (stream.rpartition("=" * 9)[2] for stream in (done.stdout, done.stderr))
    assert done.returncode == 2, done.stderr  # 0 and 2
    assert out.strip() == "open.py:1\tfunction\topen:f"
    assert "shut.py: error: cannot be read" in err
    assert "depslice: error: shut.py cannot be analysed" in err
    assert "Traceback" not in err


def test_nobody_reads(environment: dict[str, str], shop: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "depslice.cli", "slice", shop, "--all", "-q"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize(
    "arguments", [("functions", "SHOP"), ("--help",), ("slice", "--help"), ("--version",)]
)
def test_a_full_disk(environment: dict[str, str], shop: Path, arguments: tuple[str, ...]) -> None:
    """What Click writes by itself was told as a lack of room for temporary files."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "depslice.cli",
                *(a.replace("SHOP", str(shop)) for a in arguments),
            ],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment,
            check=False,
        )
    assert done.returncode == 2
    assert b"cannot write to standard output: no space left" in done.stderr
    assert b"Traceback" not in done.stderr


def test_standard_output_is_closed(environment: dict[str, str], shop: Path) -> None:
    command = f"exec {sys.executable} -m depslice.cli functions {shop} >&-"
    done = subprocess.run(
        ["/bin/sh", "-c", command], stderr=subprocess.PIPE, env=environment, check=False
    )
    assert done.returncode == 2
    assert b"standard output is closed" in done.stderr


def _children(pid: int) -> list[int]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(child) for child in text.split()]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux's /proc")
def _heed_interrupts() -> None:
    """Whoever runs the tests in the background of a shell has interrupts ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_interrupted_while_workers_read(environment: dict[str, str], tmp_path: Path) -> None:
    body = "".join(f"def f{n}(x):\n    return [x.a{n}, x + {n}, f{n}(x)]\n\n" for n in range(4000))
    for number in range(12):
        (tmp_path / f"m{number}.py").write_text(f"n = {number}\n{body}")
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "depslice.cli",
            "functions",
            tmp_path,
            "--no-cache",
            "--workers",
            "2",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
        preexec_fn=_heed_interrupts,  # noqa: PLW1509 - no threads here
    )
    deadline = time.monotonic() + 60
    while not (children := _children(process.pid)):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert out == b""
    assert err.decode().split("\n")[-2:] == ["depslice: interrupted", ""]
    assert b"Traceback" not in err
    assert not [child for child in children if Path(f"/proc/{child}").exists()]


def test_interrupted_while_slicing(environment: dict[str, str], tmp_path: Path) -> None:
    calls = "".join(f"def f{n}(x):\n    return f{n + 1}(x)\n\n" for n in range(3000))
    (tmp_path / "m.py").write_text(f"{calls}def f3000(x):\n    return x\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "depslice.cli", "slice", tmp_path, "--all", "-o", tmp_path / "out"],
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
        preexec_fn=_heed_interrupts,  # noqa: PLW1509 - no threads here
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".out.*")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"depslice: interrupted" in err
    assert b"Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["m.py"]


def _run_broken(
    environment: dict[str, str], shop: Path, **extra: str
) -> subprocess.CompletedProcess[str]:
    program = (
        "import sys, depslice.slicer, depslice.cli.main\n"
        "def broken(*_, **__): raise RecursionError('too\\ndeep')\n"
        "depslice.slicer.slice_context = broken\n"
        f"sys.exit(depslice.cli.main.main(['slice', {str(shop)!r}, 'shop.text:plural']))"
    )
    return subprocess.run(
        [sys.executable, "-c", program],
        env=environment | extra,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_fault_of_ours(environment: dict[str, str], shop: Path, tmp_path: Path) -> None:
    done = _run_broken(environment, shop, TMPDIR=str(tmp_path))
    assert done.returncode == 3
    assert "depslice: internal error: RecursionError: too deep\n" in done.stderr
    assert "Traceback" not in done.stderr
    [report] = tmp_path.glob("depslice-*.txt")
    assert str(report) in done.stderr
    assert "Traceback" in report.read_text(encoding="utf-8")


def test_a_fault_of_ours_when_debugging(environment: dict[str, str], shop: Path) -> None:
    assert "Traceback" in _run_broken(environment, shop, DEPSLICE_DEBUG="1").stderr


def test_one_function_that_fails_does_not_end_the_run(
    environment: dict[str, str], shop: Path
) -> None:
    program = (
        "import sys, depslice.slicer.parallel as s, depslice.cli.main\n"
        "real = s.slice_symbols\n"
        "def broken(program, targets, **options):\n"
        "    if targets[0].endswith(('money', 'sell')): raise RecursionError('deep')\n"
        "    return real(program, targets, **options)\n"
        "s.slice_symbols = broken\n"
        f"sys.exit(depslice.cli.main.main(['slice', {str(shop)!r}, '--all']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    failed = [line for line in lines if '"error"' in line]
    assert len(lines) == 44
    assert len(failed) == 2
    assert '{"slug": "internal", "message": "RecursionError: deep"}' in failed[0]
    assert "44 slices, 2 failed" in done.stderr
