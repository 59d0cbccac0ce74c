"""``depslice serve``, asked by the SDK's own client over both transports."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from jsonschema import validate
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from functional.running import Depslice

TOOLS = {"call_graph", "explain_slice", "find_symbol", "slice_function", "slice_stats"}
Connect = Callable[[Path], Any]


def command(repo: Path, *options: str) -> list[str]:
    return ["-m", "depslice.cli", "serve", str(repo), *options]


@pytest.fixture
def repo(shop: Path, tmp_path: Path) -> Path:
    """A copy of the shop, to be changed."""
    return Path(shutil.copytree(shop, tmp_path / "repo"))


@contextmanager
def http_server(repo: Path, environment: dict[str, str]) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, *command(repo, "--transport", "http", "--port", "0")],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        for line in process.stderr:
            found = re.search(r"http://\S+", line)
            if found:
                break
        else:
            raise AssertionError("the server has not said where it listens")
        yield found[0]
    finally:
        process.terminate()
        process.wait(timeout=20)
        process.stderr.close()


@pytest.fixture
def over_stdio(environment: dict[str, str]) -> Connect:
    """A client of a server that it has started, for tests that are not about the transport."""

    @asynccontextmanager
    async def connected(repo: Path) -> AsyncIterator[Client]:
        args = command(repo, "-q")
        started = StdioServerParameters(command=sys.executable, args=args, env=environment)
        async with Client(started) as client:
            yield client

    return connected


@pytest.fixture(params=["stdio", "http"])
def connect(
    request: pytest.FixtureRequest, environment: dict[str, str], over_stdio: Connect
) -> Connect:
    """A client of a server on ``repo``, over each transport."""

    @asynccontextmanager
    async def connected(repo: Path) -> AsyncIterator[Client]:
        with http_server(repo, environment) as url:
            async with Client(url) as client:
                yield client

    return over_stdio if request.param == "stdio" else connected


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, timeout=100))


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert isinstance(result.structured_content, dict)
    error: dict[str, Any] = result.structured_content["error"]
    [content] = result.content
    assert content.type == "text"
    assert content.text.startswith(error["message"])
    assert "Traceback" not in content.text
    return error


def test_each_tool_answers_as_its_schema_says(connect: Connect, repo: Path) -> None:
    async def work() -> None:
        async with connect(repo) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert tools.keys() == TOOLS
            calls: list[tuple[str, dict[str, Any]]] = [
                ("find_symbol", {"query": "quote"}),
                ("slice_function", {"target": "shop.api:quote", "usages": 1}),
                ("slice_stats", {"target": "shop/api.py:16"}),
                ("explain_slice", {"target": "quote", "symbol": "book_week"}),
                ("call_graph", {"target": "quote", "direction": "both", "depth": 2}),
            ]
            for name, arguments in calls:
                schema = tools[name].output_schema
                assert schema is not None
                assert tools[name].annotations is not None
                assert tools[name].annotations.read_only_hint
                validate(await ask(client, name, **arguments), schema)

            found = await ask(client, "find_symbol", query="quote")
            assert [each["id"] for each in found["symbols"]] == ["shop.api:quote"]
            assert found["exact"]
            stats = await ask(client, "slice_stats", target="quote")
            whole = await ask(client, "slice_function", target="quote")
            assert stats["definitions"] == len(whole["definitions"])
            assert stats["tokens"]["sliced"] == whole["tokens"]
            why = await ask(client, "explain_slice", target="quote", symbol="book_week")
            assert why["chain"][0]["source"] == "shop.api:quote"
            assert why["chain"][-1]["target"] == "shop.discounts:book_week"
            graph = await ask(client, "call_graph", target="quote")
            callees = {edge["callee"] for edge in graph["calls"]}
            assert {"shop.pricing:gross_price", "shop.text:money"} <= callees
            callers = await ask(client, "call_graph", target="gross_price", direction="callers")
            assert "shop.api:quote" in {edge["caller"] for edge in callers["calls"]}

    run(work())


def test_code_inside_of_a_target_is_none_of_its_callers(
    connect: Connect, tmp_path: Path, depslice: Depslice
) -> None:
    repo = tmp_path / "own"
    repo.mkdir()
    (repo / "app.py").write_text(
        "def outer(n):\n    def inner():\n        return outer(n - 1)\n    return inner() if n else 0\n"
        "\n\ndef user():\n    return outer(2)\n"
    )

    async def work() -> None:
        async with connect(repo) as client:
            answer = await ask(client, "call_graph", target="outer", direction="callers")
            callers = [(edge["caller"], edge["callee"]) for edge in answer["calls"]]
            assert callers == [
                ("app:outer.<locals>.inner", "app:outer"),
                ("app:user", "app:outer"),
            ]
            both = await ask(client, "call_graph", target="outer", direction="both")
            inside = ("app:outer", "app:outer.<locals>.inner")
            assert inside in [(edge["caller"], edge["callee"]) for edge in both["calls"]]

    run(work())
    done = depslice("graph", repo, "app:outer", "--callers")
    assert done.out == "app:outer\n├── app:outer.<locals>.inner\n└── app:user\n"


def test_earlier_answers_are_told_apart_by_their_arguments(connect: Connect, repo: Path) -> None:
    async def work() -> None:
        async with connect(repo) as client:
            await ask(client, "slice_function", target="quote")
            await ask(client, "slice_function", target="quote", format="module", budget=500)
            await ask(client, "explain_slice", target="quote", symbol="money", whole_classes=True)
            (repo / "shop" / "api.py").write_text("def quote(x):\n    return x\n")
            answer = await ask(client, "slice_function", target="quote")
            assert set(answer["outdated"]) == {
                "slice_function quote budget=500 format=module",
                "explain_slice quote money whole_classes=true",
            }

    run(work())


def test_hints_name_what_a_client_has(connect: Connect, repo: Path) -> None:
    async def work() -> None:
        async with connect(repo) as client:
            refused = await client.call_tool("slice_function", {"target": "zzzzzzzzzzzz"})
            hint = refused.structured_content["error"]["hint"]
            assert "find_symbol" in hint
            assert "depslice" not in hint
            assert hint in refused.content[0].text

    run(work())


def test_the_slice_is_that_of_the_command(
    over_stdio: Connect, repo: Path, depslice: Depslice
) -> None:
    async def work() -> None:
        async with over_stdio(repo) as client:
            for options, arguments in (
                ((), {}),
                (("--depth", "1"), {"depth": 1}),
                (("--budget", "300"), {"budget": 300}),
                (("--certainty", "definite"), {"certainty": "definite"}),
                (("--format", "module"), {"format": "module"}),
                (("--strategy", "full"), {"strategy": "full"}),
                (("--whole-classes",), {"whole_classes": True}),
            ):
                answer = await ask(client, "slice_function", target="quote", **arguments)
                assert answer["text"] == depslice("slice", repo, "quote", *options).out
                assert not answer["cut"]

    run(work())


def test_what_does_not_go_together_is_refused(over_stdio: Connect, repo: Path) -> None:
    async def work() -> None:
        async with over_stdio(repo) as client:
            for given in ({"depth": 1}, {"certainty": "likely"}, {"whole_classes": True}):
                arguments = {"target": "quote", "strategy": "naive", **given}
                refused = await client.call_tool("slice_function", arguments)
                assert refused.is_error
                [name] = given
                assert f"{name}: of slices alone" in refused.content[0].text

    run(work())


def test_resource_and_prompt(connect: Connect, repo: Path) -> None:
    async def work() -> None:
        async with connect(repo) as client:
            [template] = (await client.list_resource_templates()).resource_templates
            assert template.uri_template == "slice://{+target}"
            answer = await ask(client, "slice_function", target="quote")
            for name in ("shop.api:quote", "shop.api%3Aquote", "shop/api.py:16", "quote"):
                [content] = (await client.read_resource(f"slice://{name}")).contents
                assert content.text.startswith(answer["text"])
                notes = content.text.removeprefix(answer["text"]).splitlines()
                assert notes
                assert all(note.startswith("# ") for note in notes)
            for name in ("../../etc/passwd", "/etc/passwd", "nobody", "shop.api:quot"):
                with pytest.raises(MCPError) as caught:
                    await client.read_resource(f"slice://{name}")
                assert "internal" not in str(caught.value).lower()
            [prompt] = (await client.list_prompts()).prompts
            arguments = {"target": "quote", "task": "Find the bug."}
            [message] = (await client.get_prompt(prompt.name, arguments)).messages
            assert message.content.text.startswith("Find the bug.")
            assert answer["text"] in message.content.text
            with pytest.raises(MCPError, match=r"shop\.api:quote"):
                await client.get_prompt(prompt.name, {"target": "quot"})

    run(work())


def test_what_is_wrong_with_a_prompt_is_no_fault_of_the_server(
    over_stdio: Connect, repo: Path
) -> None:
    async def work() -> None:
        async with over_stdio(repo) as client:
            for name, arguments, told in (
                ("work_on_function", {}, "work_on_function needs the argument 'target'"),
                ("work_on_function", {"target": "quote", "tusk": "x"}, "takes no argument 'tusk'"),
                ("work_on", {"target": "quote"}, "no prompt is called 'work_on'"),
            ):
                with pytest.raises(MCPError, match=told):
                    await client.get_prompt(name, arguments)

    run(work())


def test_a_long_name_does_not_come_back_whole(over_stdio: Connect, repo: Path) -> None:
    async def work() -> None:
        async with over_stdio(repo) as client:
            for tool, arguments in (
                ("x" * 10**6, {}),
                ("slice_function", {"target": "quote", "x" * 10**6: 1}),
            ):
                refused = await client.call_tool(tool, arguments)
                assert refused.is_error
                assert len(refused.content[0].text) < 1000

    run(work())


def test_what_is_wrong_with_a_call_is_told_and_the_server_lives(
    connect: Connect, repo: Path
) -> None:
    outside = [
        "../../../etc/passwd",
        "/etc/passwd:1",
        "~/x.py",
        "shop/../../x.py:f",
        f"{repo}-other/shop/api.py:16",
    ]
    misfits: list[dict[str, Any]] = [
        {"depth": 10**9},
        {"depth": -1},
        {"depth": "3"},
        {"depth": True},
        {"depth": 1.5},
        {"budget": 10**30},
        {"budget": 0},
        {"format": "exe"},
        {"usages": [1]},
        {"whole_classes": "maybe"},
        {"target": 5},
        {"target": ""},
        {"target": "x" * 501},
        {"target": None},
        {"target": {"id": "quote"}},
    ]

    async def work() -> None:
        async with connect(repo) as client:
            for tool in TOOLS - {"find_symbol"}:
                more = {"symbol": "quote"} if tool == "explain_slice" else {}
                error = await refusal(client, tool, target="shop.api:qoute", **more)
                assert error["slug"] == "unknown-target"
                assert error["candidates"][0] == "shop.api:quote"
            assert (await refusal(client, "find_symbol", query="qoute"))["candidates"]
            error = await refusal(client, "slice_function", target="__init__")
            assert error["slug"] == "ambiguous-target"
            assert len(error["candidates"]) > 1
            for target in outside:
                error = await refusal(client, "slice_function", target=target)
                assert error["slug"] == "outside-repository"
            error = await refusal(client, "slice_function", target="/elsewhere/api.py:16")
            assert error["candidates"] == ["shop/api.py"]
            for arguments in misfits:
                error = await refusal(client, "slice_function", **{"target": "quote", **arguments})
                assert error["slug"] == "option"
                assert error["message"].startswith(next(iter(arguments)))
                assert "\n" not in error["message"]
            error = await refusal(client, "slice_functoin", target="quote")
            assert (error["slug"], error["candidates"]) == ("option", ["slice_function"])
            error = await refusal(client, "slice_function", target="quote", depht=1)
            assert error["slug"] == "option"
            assert error["candidates"] == ["depth"]
            error = await refusal(client, "slice_functions", target="quote")
            assert error["candidates"] == ["slice_function"]
            assert (await refusal(client, "slice_function"))["message"].startswith("target")
            for target in (
                "a\0b.py:3",
                ":",
                "::::",
                "shop.api:",
                "api.py:99999",
                "\u202e",
                "é" * 400,
            ):
                await client.call_tool("slice_function", {"target": target})
            assert (await ask(client, "slice_function", target="quote"))["text"]

    run(work())


def test_a_path_inside_may_be_absolute(over_stdio: Connect, repo: Path) -> None:
    async def work() -> None:
        async with over_stdio(repo) as client:
            answer = await ask(client, "slice_function", target=f"{repo}/shop/api.py:16")
            assert answer["target"] == "shop.api:quote"

    run(work())


def test_answers_follow_the_files_and_name_what_they_make_wrong(
    connect: Connect, repo: Path
) -> None:
    async def work() -> None:
        async with connect(repo) as client:
            first = await ask(client, "slice_function", target="quote")
            other = await ask(client, "slice_function", target="shop.text:money")
            await ask(client, "call_graph", target="quote")
            assert first["revision"] == other["revision"] == 1
            pricing = repo / "shop" / "pricing.py"
            pricing.write_text(pricing.read_text() + "\n\ndef added() -> int:\n    return 7\n")
            stats = await ask(client, "slice_stats", target="added")
            assert stats["definitions"] == 1
            assert stats["revision"] == 2
            assert {"call_graph quote callees", "slice_function quote"} <= set(stats["outdated"])
            again = await ask(client, "slice_function", target="quote")
            assert again["text"] == first["text"]
            assert "call_graph quote callees" in again["outdated"]
            assert "slice_function quote" not in again["outdated"]

            stale = await ask(client, "call_graph", target="quote", allow_stale=True)
            assert stale["stale_files"] == ["shop/pricing.py"]
            error = await refusal(client, "call_graph", target="added", allow_stale=True)
            assert error["message"] == "shop.pricing:added is newer than the last call graph"
            assert error["hint"] == "ask without allow_stale"
            fresh = await ask(client, "call_graph", target="added", direction="callers")
            assert not fresh["stale_files"]
            assert "call_graph quote callees" not in fresh["outdated"]

            (repo / "shop" / "api.py").write_text(
                "def quote(x):\n    return new(x)\n\ndef new(x):\n    return x\n"
            )
            changed = await ask(client, "slice_function", target="quote")
            assert {each["id"] for each in changed["definitions"]} == {
                "shop.api:quote",
                "shop.api:new",
            }
            (repo / "shop" / "api.py").write_text("def quote(:\n")
            error = await refusal(client, "slice_function", target="shop.api:quote")
            assert "syntax" in error["message"]
            (repo / "shop" / "api.py").unlink()
            error = await refusal(client, "slice_function", target="shop.api:quote")
            assert error["slug"] == "unknown-target"

    run(work())


def test_a_hundred_slices_while_files_change(connect: Connect, tmp_path: Path) -> None:
    """Each file of a version says the version; a slice of two files must have it twice."""
    repo = tmp_path / "repo"
    names = [f"m{number}" for number in range(5)]
    written = dict.fromkeys(names, 0)  # the version wholly on disk
    begun = dict.fromkeys(names, 0)
    for folder in ("left", "right"):
        (repo / folder).mkdir(parents=True)
        (repo / folder / "__init__.py").touch()

    def put(path: Path, text: str, version: int) -> None:
        # Whole at once: in place, of the same size and often within one tick of the
        # clock, or as another file of that name and another size.
        if path.exists() and version % 3:
            with path.open("r+b", buffering=0) as file:
                file.write(text.encode())
        else:
            new = path.with_suffix(".new")
            new.write_text(text + "#" * (version % 2))
            new.replace(path)

    def write(name: str, version: int) -> None:
        begun[name] = version
        stamp = f"{name} {version:09}"
        put(repo / "right" / f"{name}.py", f"RIGHT = '{stamp}'\n", version)
        code = (
            f"from right.{name} import RIGHT\n\ndef target_{name}():\n    return '{stamp}', RIGHT\n"
        )
        put(repo / "left" / f"{name}.py", code, version)
        written[name] = version

    for name in names:
        write(name, 0)
    stop = threading.Event()

    def keep_writing() -> None:
        version = 0
        while not stop.is_set():
            version += 1
            for name in names:
                write(name, version)
                time.sleep(0.002)
            if version % 5 == 0:
                (repo / "left" / f"extra{version}.py").write_text("x = 1\n")
            time.sleep(0.03)

    async def work() -> None:
        async with connect(repo) as client:
            writer = threading.Thread(target=keep_writing)
            writer.start()
            seen = set()
            mixed = 0
            try:
                for number in range(100):
                    name = names[number % len(names)]
                    least = written[name]
                    answer = await ask(client, "slice_function", target=f"target_{name}")
                    most = begun[name]
                    stamps = re.findall(r"'(m\d) (\d+)'", answer["text"])
                    assert len(stamps) == 2
                    assert {whose for whose, _ in stamps} == {name}, "a crossed answer"
                    assert answer["target"] == f"left.{name}:target_{name}"
                    versions = [int(version) for _, version in stamps]
                    assert least <= min(versions) <= max(versions) <= most, "a stale answer"
                    # The two files are written one after the other: right first.
                    assert versions[0] - versions[1] in {0, 1}, "an answer of two moments"
                    mixed += versions[0] != versions[1]
                    seen.add(max(versions))
            finally:
                stop.set()
                writer.join()
            assert len(seen) >= 5  # the files did change underneath

    run(work())


def test_many_questions_at_once(over_stdio: Connect, repo: Path) -> None:
    targets = ["quote", "shop.text:money", "gross_price", "net_price", "best_discount"]

    async def work() -> None:
        async with over_stdio(repo) as client:
            answers = await asyncio.gather(
                *(ask(client, "slice_function", target=target) for target in targets * 4)
            )
            for target, answer in zip(targets * 4, answers, strict=True):
                assert answer["target"].endswith(target.rpartition(":")[2])

    run(work())


def test_progress_is_told(connect: Connect, repo: Path) -> None:
    told: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async def work() -> None:
        async with connect(repo) as client:
            await client.call_tool("call_graph", {"target": "quote"}, progress_callback=note)

    run(work())
    assert told
    assert told == sorted(told)


def test_a_long_answer_is_bounded_and_says_what_was_cut(
    over_stdio: Connect, tmp_path: Path
) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    lines = ["def f0():\n    return 0\n"]
    for number in range(1, 120):
        body = "".join(f"    x{n} = {n} * {number}\n" for n in range(100))
        lines.append(f"def f{number}():\n{body}    return f{number - 1}()\n")
    (repo / "chain.py").write_text("\n".join(lines))

    async def work() -> None:
        async with over_stdio(repo) as client:
            answer = await ask(client, "slice_function", target="f119")
            assert answer["tokens"] <= 12_000
            assert "def f119" in answer["text"]
            [cut] = [each for each in answer["cut"] if each["what"] == "definitions of the slice"]
            assert cut["total"] == 120
            assert 0 < cut["shown"] < 120
            compile(answer["text"], "slice", "exec")
            budgeted = await ask(client, "slice_function", target="f119", budget=3_000)
            assert budgeted["tokens"] <= 3_100
            assert "def f119" in budgeted["text"]
            graph = await ask(client, "call_graph", target="f119", depth=100, limit=10)
            assert [edge["distance"] for edge in graph["calls"]] == list(range(1, 11))
            assert graph["cut"][0]["total"] == 100
            chain = await ask(client, "explain_slice", target="f119", symbol="f0")
            assert len(chain["chain"]) < 119
            assert chain["cut"][0]["total"] == 119

    run(work())


def raw_server(repo: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
    """A server that is spoken to without a client."""
    return subprocess.Popen(
        [sys.executable, *command(repo)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def say(process: subprocess.Popen[str], lines: Sequence[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("".join(f"{line}\n" for line in lines))
    process.stdin.flush()


def test_raw_messages_that_no_client_sends(repo: Path, environment: dict[str, str]) -> None:
    opening = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "0"},
    }
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        "not json",
        '{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "slice_function", "arguments": {"target": "\\ud800x"}}}',
        '{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": 7}}',
        '{"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "slice_function", "arguments": {"target": "quote"}}}',
    ]
    process = raw_server(repo, environment)
    assert process.stdout is not None
    say(process, lines)
    answers: dict[int, dict[str, Any]] = {}
    for line in process.stdout:
        document = json.loads(line)
        if "id" in document:
            answers[document["id"]] = document
        if 4 in answers:
            break
    out, err = process.communicate(timeout=20)  # which closes its input: the end
    assert process.returncode == 0
    assert "Traceback" not in err
    assert not answers[4]["result"]["isError"]
    assert out.strip() == ""


def test_a_client_that_stops_reading(repo: Path, environment: dict[str, str]) -> None:
    ask = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    process = raw_server(repo, environment)
    assert process.stdout is not None
    process.stdout.close()
    say(process, [json.dumps(ask)] * 20)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 141
    assert err == ""


def test_only_this_machine_is_listened_to(depslice: Depslice, repo: Path) -> None:
    done = depslice("serve", repo, "--transport", "http", "--host", "0.0.0.0")  # noqa: S104
    assert done.code == 2
    assert "loopback" in done.error


def test_a_port_that_is_taken(depslice: Depslice, repo: Path, environment: dict[str, str]) -> None:
    with http_server(repo, environment) as url:
        port = url.rpartition(":")[2].partition("/")[0]
        done = depslice("serve", repo, "--transport", "http", "--port", port)
        assert done.code == 2
        assert port in done.error


def test_pages_of_other_sites_are_refused(repo: Path, environment: dict[str, str]) -> None:
    with http_server(repo, environment) as url:
        for header in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
            asked = urllib.request.Request(  # noqa: S310
                url,
                data=b"{}",
                headers={
                    "Content-Type": "application/json",
                    "Accept": "application/json, text/event-stream",
                    **header,
                },
            )
            with pytest.raises(urllib.error.HTTPError) as caught:
                urllib.request.urlopen(asked)  # noqa: S310
            assert caught.value.code in {403, 421}
            caught.value.close()


def test_a_repository_that_cannot_be_served(depslice: Depslice, tmp_path: Path) -> None:
    done = depslice("serve", tmp_path / "nowhere")
    assert done.code == 2
    assert "no such file" in done.error


def test_without_the_sdk_one_line_says_what_to_install(
    depslice: Depslice, repo: Path, tmp_path: Path
) -> None:
    # A finder that knows no `mcp` stands before all others.
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as util\n"
        "find = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'mcp' else find(name, *rest)\n"
    )
    from functional.running import ROOT

    path = [str(tmp_path), *(str(ROOT / c) for c in ("callgraph", "slicer", "server", "cli"))]
    done = depslice("serve", repo, env={"PYTHONPATH": ":".join(path)})
    assert done.code == 3
    assert "MCP SDK" in done.error
    assert "depslice[serve]" in done.err
