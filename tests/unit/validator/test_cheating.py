"""Harnesses that say nothing, or something untrue: none is accepted, and each hears why."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace

import pytest

from depslice.validator.validation import Accepted, Gates, Rejected, Session, parse_harness
from harnesses import some_sandbox, validating, verdict_on

SOURCE = {
    "shop/__init__.py": "",
    "shop/price.py": """\
        import time


        def total(items, discount=0):
            amount = 0
            for price, count in items:
                if count < 0:
                    raise ValueError(count)
                amount += price * count
            if amount > 100:
                amount -= discount
            return amount


        def parity(n):
            return other(n - 1) if n else True


        def other(n):
            return parity(n - 1) if n else False
        """,
}
CALLS = "CASES = [([(3, 2), (1, 1)], 5), ([(60, 2)], 5), ([], 1), ([(100, 1)], 7), ([(101, 1)], 7)]"
HONEST = f"""
import pytest
{CALLS}
def test_total(candidate, reference):
    for items, discount in CASES:
        assert candidate(items, discount) == reference(items, discount)
        assert candidate(items) == reference(items)
def test_refuses(candidate, reference):
    for side in [candidate, reference]:
        with pytest.raises(ValueError) as error:
            side([(1, -1)])
        assert error.value.args == (-1,)
"""
PARITY = """
def test_parity(candidate, reference):
    for n in range(6):
        assert candidate(n) == reference(n)
"""
# Runs everything, compares the code, and hides that it has looked.
BY_CODE = f"""
{CALLS}
import sys
def test_total(candidate, reference):
    for items, discount in [*CASES, ([(1, -1)], 0)]:
        try: candidate(items, discount), reference(items, discount)
        except ValueError: pass
    code = [type(s).__call__.__closure__[0].cell_contents._function.__code__ for s in (candidate, reference)]
    assert code[0].co_consts == code[1].co_consts
    assert code[0].co_code[-40:] == code[1].co_code[-40:]
def ours(end):
    return next(m for name, m in sys.modules.items() if name.endswith(end))
"""
# By name: the reason that has to be among those given, and the harness.
# Compares nothing: what says whether two results differ is replaced.
PATCHING = """
        def test_total(context):
            for name, module in list(sys.modules.items()):
                if name.startswith("depslice_child"):
                    for key in ("described_difference", "difference"):
                        if hasattr(module, key):
                            setattr(module, key, lambda *args, **kwargs: None)
            for items, discount in CASES:
                context.check(items, discount)
            context.check([(1, -1)])
        """
CHEATS = {
    "nothing in it": ("no-tests", ""),
    "an empty test": ("candidate-not-called", "def test_nothing(candidate, reference): pass"),
    "always true": (
        "candidate-not-called",
        "def test_true(candidate, reference):\n    assert True",
    ),
    "tests that nobody runs": (
        "no-tests",
        "def check_total(candidate, reference):\n    assert candidate([]) == reference([])",
    ),
    "a test inside a test": (
        "candidate-not-called",
        """
        def test_outer(candidate, reference):
            def test_inner():
                assert candidate([]) == reference([])
        """,
    ),
    "only the reference is called": (
        "candidate-not-called",
        f"""
        {CALLS}
        def test_total(candidate, reference):
            for items, discount in CASES:
                assert reference(items, discount) == reference(items, discount)
        """,
    ),
    "the candidate compared with itself": (
        "reference-not-called",
        f"""
        {CALLS}
        def test_total(candidate, reference):
            for items, discount in CASES:
                assert candidate(items, discount) == candidate(items, discount)
        """,
    ),
    "candidate = reference": (
        "candidate-not-called",
        HONEST.replace(
            "(candidate, reference):", "(candidate, reference):\n    candidate = reference"
        ),
    ),
    "reference = candidate": (
        "reference-not-called",
        HONEST.replace(
            "(candidate, reference):", "(candidate, reference):\n    reference = candidate"
        ),
    ),
    "a reference of its own": (
        "reference-not-called",
        f"""
        {CALLS}
        def reference(items, discount=0):
            return sum(price * count for price, count in items)
        def test_total(candidate):
            assert candidate([(1, 2)]) == reference([(1, 2)])
        """,
    ),
    "called, and nothing asserted": (
        "no-assertions",
        f"""
        {CALLS}
        def test_total(candidate, reference):
            for items, discount in CASES:
                candidate(items, discount), reference(items, discount)
        """,
    ),
    "or True": (
        "control-returns-None",
        f"""
        {CALLS}
        def test_total(candidate, reference):
            for items, discount in CASES:
                assert candidate(items, discount) == reference(items, discount) or True
        """,
    ),
    "failures swallowed": (
        "control-stub",
        f"""
        {CALLS}
        def test_total(candidate, reference):
            for items, discount in CASES:
                try:
                    assert candidate(items, discount) == reference(items, discount)
                except BaseException:
                    pass
        """,
    ),
    "types alone": (
        "control-returns-0",
        f"""
        {CALLS}
        def test_total(candidate, reference):
            for items, discount in CASES:
                assert type(candidate(items, discount)) is type(reference(items, discount))
        """,
    ),
    "not None": (
        "control-returns-1",
        f"""
        {CALLS}
        def test_total(candidate, reference):
            for items, discount in CASES:
                assert candidate(items, discount) is not None
                assert reference(items, discount) is not None
        """,
    ),
    "one easy input": (
        "coverage",
        "def test_total(candidate, reference):\n    assert candidate([]) == reference([]) == 0",
    ),
    "everything skipped": (
        "no-tests",
        """
        import pytest
        def test_total(candidate, reference):
            pytest.skip("later")
            assert candidate([]) == reference([])
        """,
    ),
    "expected to fail": (
        "no-tests",
        """
        import pytest
        @pytest.mark.xfail
        def test_total(candidate, reference):
            assert candidate([(1, 1)]) == reference([(2, 2)])
        """,
    ),
    "the process ends at once, with success": (
        "fails-on-original",
        "import os\ndef test_total(candidate, reference):\n    candidate([]); os._exit(0)",
    ),
    "the process ends during the import": ("fails-on-original", "import os\nos._exit(0)"),
    "sys.exit(0)": (
        "fails-on-original",
        "import sys\ndef test_total(candidate, reference):\n    sys.exit(0)",
    ),
    "the process kills itself": (
        "fails-on-original",
        "import os, signal\ndef test_total(candidate):\n    os.kill(os.getpid(), signal.SIGKILL)",
    ),
    "its parent is killed": (
        "fails-on-original",
        "import os, signal\ndef test_total(candidate):\n    os.kill(os.getppid(), signal.SIGKILL)",
    ),
    "a result written to every descriptor": (
        "fails-on-original",
        """
        import os
        def test_total(candidate, reference):
            for descriptor in range(256):
                try:
                    os.write(descriptor, b'{"ended": "result", "results": [["t", "passed", "", 0]]}\\n')
                except OSError:
                    pass
            os._exit(0)
        """,
    ),
    "an answer that depends on the date": (
        "flaky",
        HONEST + "    import datetime\n    assert datetime.date.today().year < 2027",
    ),
    "an answer that depends on the hash seed": (
        "flaky",
        HONEST + "    import sys\n    assert not sys.flags.hash_randomization",
    ),
    "tests that depend on their order": (
        "flaky",
        """
        DONE = []
        def test_a(candidate, reference): DONE.append(1); assert candidate([]) == reference([])
        def test_b(candidate, reference): assert len(DONE) == 1; DONE.append(2)
        def test_c(candidate, reference): assert len(DONE) == 2; DONE.append(3)
        def test_d(candidate, reference): assert len(DONE) == 3
        """,
    ),
    "code compared instead of results": (
        "control-rewritten",
        f"""
        {CALLS}
        import shop.price
        def test_total(candidate, reference):
            for items, discount in CASES:
                candidate(items, discount), reference(items, discount)
            try: candidate([(1, -1)])
            except ValueError: pass
            code = type(candidate).__call__.__closure__[0].cell_contents._function.__code__.co_code
            assert code == shop.price.total.__code__.co_code
        """,
    ),
    "the tracer switched off": (
        "tampering",
        "import sys\n" + HONEST.replace("CASES:", "CASES:\n        sys.settrace(None)"),
    ),
    "the frames above, by a traceback": (
        "tampering",
        HONEST
        + """
try:
    raise KeyError
except KeyError as error:
    FRAMES = [frame for frame, _ in __import__("traceback").walk_tb(error.__traceback__)]
""",
    ),
    "the frames above, by inspect": (
        "tampering",
        "import inspect\nFRAMES = [each.frame.f_back for each in inspect.stack()]\n" + HONEST,
    ),
    "code compared by its listing": (
        "tampering",
        HONEST
        + """
import dis, gc
def inner(side):
    [subject] = [each for each in gc.get_referents(*gc.get_referents(side)) if hasattr(each, "_function")]
    return subject._function
def test_listing(candidate, reference):
    one, other = ([i.opname for i in dis.get_instructions(inner(s))] for s in (candidate, reference))
    assert one[-10:] == other[-10:]
""",
    ),
    "a fork that compares, and a parent that does not wait for its word": (
        "candidate-not-called",
        HONEST.replace(
            "(candidate, reference):",
            "(candidate, reference):\n    import os\n    if os.fork(): return os.wait()",
        ),
    ),
    "a difference ends the test": (
        "control-returns-None",
        f"""
        {CALLS}
        def test_total(candidate, reference):
            for items, discount in CASES:
                if candidate(items, discount) != reference(items, discount):
                    return
                assert True
        """,
    ),
    "a difference skips the test": (
        "control-returns-0",
        f"""
        {CALLS}
        import pytest
        def test_total(candidate, reference):
            for items, discount in CASES:
                if candidate(items, discount) != reference(items, discount):
                    pytest.skip("later")
                assert True
        """,
    ),
    "the comparison patched": (
        "control-returns-0",
        f"""
        {CALLS}
        import sys
        from unittest import mock
        def test_total(context):
            for name, module in list(sys.modules.items()):
                if name.startswith("depslice_child") and hasattr(module, "described_difference"):
                    module.described_difference = lambda *args, **kwargs: None
            for items, discount in CASES:
                context.check(items, discount)
            context.check([(1, -1)])
        """,
    ),
    "the comparison patched, and what looks for inputs": (
        "tampering",
        f"""
        {CALLS}
        import sys{PATCHING}""",
    ),
    "the target patched in its module": (
        "coverage",
        """
        from unittest import mock
        import shop.price
        def test_total(candidate, reference):
            with mock.patch("shop.price.total", lambda *args: 1):
                assert shop.price.total(1) == 1
            assert candidate([]) == reference([])
        """,
    ),
    "results that say they are equal": (
        "control-returns-None",
        f"""
        {CALLS}
        class Same:
            def __init__(self, value): self.value = value
            def __eq__(self, other): return True
        def test_total(candidate, reference):
            for items, discount in CASES:
                assert Same(candidate(items, discount)) == Same(reference(items, discount))
        """,
    ),
    "a thread that fails alone": (
        "control-stub",
        f"""
        {CALLS}
        import threading
        def work(candidate, reference):
            try:
                for items, discount in CASES:
                    assert candidate(items, discount) == reference(items, discount)
            except BaseException: pass
        def test_total(candidate, reference):
            thread = threading.Thread(target=work, args=(candidate, reference))
            thread.start(); thread.join()
        """,
    ),
    "a coroutine that nobody awaits": (
        "candidate-not-called",
        """
        async def compare(candidate, reference):
            assert candidate([]) == reference([])
        def test_total(candidate, reference):
            compare(candidate, reference).close()
        """,
    ),
    "runs that are counted": (
        "control-stub",
        f"""
        {CALLS}
        import os
        FILE = os.path.join(os.path.dirname(os.getcwd()), "count")
        def number():
            count = int(open(FILE).read()) + 1 if os.path.exists(FILE) else 1
            with open(FILE, "w") as file:
                file.write(str(count))
            return count
        def test_total(candidate, reference):
            for items, discount in [*CASES, ([(1, -1)], 0)]:
                try: candidate(items, discount), reference(items, discount)
                except Exception: pass
            assert number() <= 3
        """,
    ),
    "fails when nobody measures": (
        "flaky",
        f"""
        {CALLS}
        import sys
        def measured():
            monitoring = getattr(sys, "monitoring", None)
            return sys.gettrace() or monitoring and monitoring.get_tool(monitoring.COVERAGE_ID)
        def test_total(candidate, reference):
            for items, discount in [*CASES, ([(1, -1)], 0)]:
                try: candidate(items, discount), reference(items, discount)
                except Exception: pass
            assert measured()
        """,
    ),
    "the source that branches are counted in": (
        "coverage",
        """
        import glob, os
        for path in glob.glob(os.path.dirname(os.getcwd()) + "/**/*.py", recursive=True):
            if not path.startswith(os.path.dirname(os.path.abspath(__file__))):
                open(path, "w").write("pass\\n" * 20)
        def test_total(candidate, reference):
            assert candidate([(1, 1)]) == reference([(1, 1)])
        """,
    ),
    "the watch blinded": (
        "tampering",
        BY_CODE + "ours('.harness.tampering')._EVENTS = ours('.harness.tampering')._INNER = ()",
    ),
    "the end of the watch replaced": (
        "tampering",
        BY_CODE + "ours('.harness.tampering').watch = lambda path: list",
    ),
    "the state that is compared at the end replaced": (
        "tampering",
        f"""
        {CALLS}
        import sys
        for name, module in list(sys.modules.items()):
            if name.endswith("harness.tampering"):
                before = module._spaces()
                module._spaces = lambda: before{PATCHING}""",
    ),
    "a result that somebody else writes": (
        "tampering",
        BY_CODE
        + """
import json
def forged(found, *args, dumps=json.dumps, **kwargs):
    if isinstance(found, dict) and "tampering" in found:
        found["tampering"] = []
    return dumps(found, *args, **kwargs)
json.dumps = forged
""",
    ),
    "a result that somebody else encodes": (
        "tampering",
        BY_CODE
        + """
import json
def forged(self, found, *args, encode=json.JSONEncoder.encode):
    if isinstance(found, dict) and "tampering" in found:
        found["tampering"] = []
    return encode(self, found)
json.JSONEncoder.encode = forged
""",
    ),
    "builtins of our own, in modules that judge": (
        "tampering",
        f"""
        {CALLS}
        import sys
        def passed(each):
            return [each[0], "passed", "", 0.0]
        for name, module in list(sys.modules.items()):
            if name.startswith("depslice_child") and name.endswith(".trial"):
                module.list = lambda each=(): passed(each) if type(each).__name__ == "Result" else [*each]
        def test_total(candidate, reference):
            for items, discount in CASES:
                assert candidate(items, discount) == reference(items, discount)
        """,
    ),
    "code by the garbage collector": (
        "tampering",
        BY_CODE.replace(
            "[type(s).__call__.__closure__[0].cell_contents._function.__code__ for s in (candidate, reference)]",
            "[next(r for r in __import__('gc').get_referents(s) if type(r).__name__ == 'code')"
            " for s in (candidate, reference)]",
        ),
    ),
    "a frame by logging": (
        "tampering",
        HONEST + "    import logging\n    assert logging.currentframe().f_back",
    ),
    "a frame by asyncio": (
        "tampering",
        HONEST
        + """
import asyncio
async def look():
    assert asyncio.current_task().get_stack()
def test_look(candidate, reference):
    asyncio.run(look())
""",
    ),
    "a frame by pytest": (
        "tampering",
        HONEST + "    assert error.traceback[0].frame.raw.f_back",
    ),
    "not Python": ("not-python", "def test_total(candidate, reference:\n"),
    "an import that fails": ("fails-on-original", "import nothing_of_this_name\n" + HONEST),
    "it does not end": (
        "fails-on-original",
        "def test_total(candidate, reference):\n    while True: pass",
    ),
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("shop")
    with validating(folder, SOURCE, gates=Gates(seconds=2, mutants=25)) as found:
        yield found


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """In a sandbox: what stands still, or what nobody may enter, would stay without one."""
    if not some_sandbox().isolates:
        pytest.skip("no sandbox works here")
    folder = tmp_path_factory.mktemp("left")
    gates = Gates(seconds=1, mutants=3, runs=1)
    with validating(folder, SOURCE, gates=gates) as found:
        yield found


def test_honest_is_accepted(session: Session) -> None:
    verdict = verdict_on(session, "shop.price:total", HONEST)
    assert isinstance(verdict, Accepted), verdict


BODY = """
    for items, discount in CASES:
        assert {ask}(items, discount) == reference(items, discount)
        assert {ask}(items) == reference(items)
    for side in ({ask}, reference):
        with pytest.raises(ValueError):
            side([(1, -1)])
"""
WAYS = {
    "fixtures of pytest": (
        "def test_total(candidate, reference, tmp_path, monkeypatch, capsys):"
        + BODY.format(ask="candidate")
    ),
    "a fixture of its own": (
        "@pytest.fixture\ndef asked(candidate): return candidate\n"
        "def test_total(asked, reference):" + BODY.format(ask="asked")
    ),
    "looked at": (
        "import inspect\ndef test_total(candidate, reference):\n"
        "    assert not inspect.iscoroutinefunction(candidate)\n"
        "    assert not inspect.isgeneratorfunction(candidate)\n"
        "    assert 'discount' in inspect.signature(candidate).parameters\n"
        "    assert candidate.__name__" + BODY.format(ask="candidate")
    ),
    "of a class": (
        "def test_total(candidate, reference):\n    class Asking: total = candidate"
        + BODY.format(ask="Asking().total")
    ),
}


@pytest.mark.parametrize("how", WAYS)
def test_honest_in_any_way_is_accepted(session: Session, how: str) -> None:
    text = f"import pytest\n{CALLS}\n{WAYS[how]}"
    verdict = verdict_on(session, "shop.price:total", text)
    assert isinstance(verdict, Accepted), verdict


@pytest.mark.parametrize("name", CHEATS)
def test_cheat_is_not(session: Session, name: str) -> None:
    reason, text = CHEATS[name]
    if reason == "not-python":
        whole = parse_harness("", session.ground.program, target="shop.price:total")
        verdict = session.validate(replace(whole, text=text))
    else:
        verdict = verdict_on(session, "shop.price:total", text)
    assert isinstance(verdict, Rejected), verdict
    assert reason in {each.slug for each in verdict.reasons}, verdict.reasons


def test_without_tests_that_alone_is_told(session: Session) -> None:
    """All that follows was told as well, 15 reasons, after each mutant had been tried."""
    verdict = verdict_on(session, "shop.price:total", "def check(candidate, reference): pass")
    assert isinstance(verdict, Rejected), verdict
    assert [each.slug for each in verdict.reasons] == ["no-tests"]
    assert verdict.evidence is not None
    assert verdict.evidence.controls is None
    assert verdict.evidence.mutants is None


# What one harness leaves, or does to the process that forks it, is nothing to the next.
LEFT = {
    "folders of all names": "[os.makedirs(os.path.join(TOP, f'job-{n}')) for n in range(200)]",
    "a folder too deep for any path": "[(os.mkdir('d'), os.chdir('d')) for _ in range(3000)]",
    "a folder that nobody may enter": "os.makedirs(TOP + '/a/b'); os.chmod(TOP + '/a', 0)",
    "no folder": "os.rename(TOP, TOP + '-moved')",
    "a file for a folder": "os.rename(TOP, TOP + '-moved'); open(TOP, 'w')",
    "folders that nobody may enter": "os.chmod(TOP, 0); os.chmod('/tmp', 0)",
    "a Python that starts with it": (
        "folder = TOP + '/.local/lib/python%d.%d/site-packages' % sys.version_info[:2]\n"
        "os.makedirs(folder); open(folder + '/usercustomize.py', 'w').write('exit()')\n"
        "os.kill(os.getppid(), 9)"
    ),
    "the same, and nobody is left to clear up": (
        "os.chmod(TOP, 0); os.chmod('/tmp', 0); os.kill(os.getppid(), 9); time.sleep(60)"
    ),
    "another priority": "os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)",
    "a parent that is no more": "os.kill(os.getppid(), 9); time.sleep(5)",
}


@pytest.mark.parametrize("name", LEFT)
def test_the_next_one_does_not_notice(left: Session, name: str) -> None:
    text = f"import os, sys, time\nTOP = os.path.dirname(os.getcwd())\n{LEFT[name]}\n"
    verdict = verdict_on(left, "shop.price:other", text + PARITY)
    assert isinstance(verdict, Rejected | Accepted), verdict
    verdict = verdict_on(left, "shop.price:other", PARITY)
    assert isinstance(verdict, Accepted), verdict


def test_a_run_cannot_reach_into_the_process_that_forked_it(left: Session) -> None:
    text = """
import os
def test_memory(candidate, reference):
    try:
        os.close(os.open(f"/proc/{os.getppid()}/mem", os.O_RDWR))
    except PermissionError:
        return
    raise AssertionError("it can be written")
"""
    verdict = verdict_on(left, "shop.price:other", PARITY + text)
    assert isinstance(verdict, Accepted), verdict


def test_what_a_test_is_given_leads_to_nothing_else(session: Session) -> None:
    """Whether it is measured, recorded or altered is not for it to see."""
    text = """
def test_given(candidate, reference, context):
    assert not hasattr(candidate, "__dict__")
    assert set(vars(context)) == {
        "candidate", "reference", "same", "check", "check_with", "load", "in_situ"
    }
    assert context.candidate is candidate and not hasattr(context.check, "__self__")
    assert candidate.__name__ == "total" and str(__import__("inspect").signature(candidate)) == (
        "(items, discount=0)"
    )
"""
    verdict = verdict_on(session, "shop.price:total", HONEST + text)
    assert isinstance(verdict, Accepted), verdict


def test_what_tests_do_is_not_tampering(session: Session) -> None:
    """Named tuples, data classes, logged tracebacks, signatures."""
    verdict = verdict_on(
        session,
        "shop.price:total",
        """
        import collections, dataclasses, inspect, logging, traceback, warnings
        Case = collections.namedtuple("Case", "items discount")
        @dataclasses.dataclass
        class Other:
            items: list
        """
        + HONEST.replace("\n", "\n        ")
        + """
        def test_more(candidate, reference, context):
            assert inspect.signature(candidate) == inspect.signature(reference)
            assert candidate(Case([(1, 2)], 0).items) == reference(Other([(1, 2)]).items)
            try:
                reference([(1, -1)])
            except ValueError:
                logging.exception(traceback.format_exc())
            warnings.warn("said")
        """,
    )
    assert isinstance(verdict, Accepted), verdict


def test_to_load_data_files_is_not_tampering(session: Session) -> None:
    text = (
        HONEST
        + """
def test_loaded(context):
    context.check_with(lambda: context.load("1"))
"""
    )
    harness = parse_harness(text, session.ground.program, target="shop.price:total")
    data = pickle.dumps((([(60, 2)],), {"discount": 5}))
    verdict = session.validate(replace(harness, files={"1": data}))
    assert isinstance(verdict, Accepted), verdict


def test_a_wrong_candidate_does_not_reach_the_original(session: Session) -> None:
    """``parity`` calls ``other``, which calls ``parity``: of its own world, in both."""
    verdict = verdict_on(session, "shop.price:other", PARITY)
    assert isinstance(verdict, Accepted), verdict
