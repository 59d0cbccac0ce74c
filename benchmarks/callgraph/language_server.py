"""The call graph of a type checker: its language server is asked where each call leads.

For every call of a name or an attribute, and every attribute that is read (it may be a
property), ``textDocument/definition`` is asked at the name, as an editor does. A
definition that is a function is a callee; a class stands for its ``__init__``; an
attribute that is only read counts when what defines it is decorated.
"""

from __future__ import annotations

import ast
import json
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import unquote, urlparse

from depslice.callgraph import Program

_BATCH: Final = 50  # requests on the way at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """Where does the name at ``line``, ``character`` (0-based, UTF-16) lead ``caller``?"""

    caller: str
    path: str
    line: int
    character: int
    is_call: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Definition:
    """What stands on a line: a symbol, and whether reading it runs it."""

    id: str
    is_class: bool
    decorated: bool


def ask_server(
    command: Sequence[str], program: Program, *, timeout: float
) -> Iterator[tuple[str, str]]:
    """Pairs of symbol ids, caller and callee.

    Raises ``TimeoutExpired`` after ``timeout`` seconds, ``OSError`` when the server ends.
    """
    texts: dict[str, str] = {}
    questions: list[_Question] = []
    definitions: dict[tuple[str, int], _Definition] = {}
    for module in program.load_all():
        path = str(program.project.root / module.file.path)
        texts[path] = program.text(module)
        try:
            tree = ast.parse(texts[path])
        except SyntaxError:
            continue
        walk = _Walk(path, module.name, texts[path])
        walk.visit_body(tree, module.name, f"{module.name}:")
        questions += walk.questions
        definitions |= walk.definitions
    ends = time.monotonic() + timeout
    root = program.project.root
    top = root.parent if (root / "__init__.py").exists() else root
    with _Server(command, top) as server:
        for path, text in texts.items():
            server.open(path, text)
        for start in range(0, len(questions), _BATCH):
            if time.monotonic() > ends:
                raise subprocess.TimeoutExpired(list(command), timeout)
            batch = questions[start : start + _BATCH]
            for question, found in zip(batch, server.definitions(batch), strict=True):
                for path, line in found:
                    definition = definitions.get((path, line))
                    if definition is None:
                        continue
                    if definition.is_class and question.is_call:
                        yield question.caller, f"{definition.id}.__init__"
                    elif not definition.is_class and (question.is_call or definition.decorated):
                        yield question.caller, definition.id


class _Walk:
    """The questions and the definitions of one file."""

    def __init__(self, path: str, module: str, text: str) -> None:
        self.path = path
        self.lines = text.split("\n")
        self.questions: list[_Question] = []
        self.definitions: dict[tuple[str, int], _Definition] = {}
        self._called: set[ast.AST] = set()

    def visit_body(self, node: ast.AST, caller: str, prefix: str) -> None:
        """All below ``node``: calls are by ``caller``, definitions are named after ``prefix``."""
        for child in ast.iter_child_nodes(node):
            self._visit(child, caller, prefix)

    def _visit(self, node: ast.AST, caller: str, prefix: str) -> None:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                inner = prefix + name
                self._define(node, inner, is_class=False)
                for outside in (*node.decorator_list, node.args):
                    self._visit(outside, caller, prefix)
                for statement in node.body:
                    self._visit(statement, inner, f"{inner}.<locals>.")
            case ast.ClassDef(name=name):
                inner = prefix + name
                self._define(node, inner, is_class=True)
                for outside in (*node.decorator_list, *node.bases, *node.keywords):
                    self._visit(outside, caller, prefix)
                for statement in node.body:
                    self._visit(statement, inner, f"{inner}.")
            case ast.Lambda():
                inner = f"{prefix}<lambda>@{node.lineno}"
                self._visit(node.args, caller, prefix)
                self._visit(node.body, inner, f"{inner}.<locals>.")
            case ast.arg():
                pass  # annotations call nothing
            case ast.Call(func=function):
                self._called.add(function)
                self.visit_body(node, caller, prefix)
            case ast.Name() if node in self._called:
                self._ask(node.lineno, node.col_offset, caller, is_call=True)
            case ast.Attribute(attr=attribute, ctx=ast.Load()):
                column = (node.end_col_offset or 0) - len(attribute.encode())
                self._ask(node.end_lineno or 0, column, caller, is_call=node in self._called)
                self.visit_body(node, caller, prefix)
            case _:
                self.visit_body(node, caller, prefix)

    def _define(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef,
        identifier: str,
        *,
        is_class: bool,
    ) -> None:
        self.definitions[self.path, node.lineno - 1] = _Definition(
            id=identifier, is_class=is_class, decorated=bool(node.decorator_list)
        )

    def _ask(self, line: int, column: int, caller: str, *, is_call: bool) -> None:
        before = self.lines[line - 1].encode()[:column].decode(errors="replace")
        character = len(before.encode("utf-16-le")) // 2
        self.questions.append(
            _Question(
                caller=caller, path=self.path, line=line - 1, character=character, is_call=is_call
            )
        )


class _Server:
    """A language server, spoken to over its standard streams."""

    def __init__(self, command: Sequence[str], root: Path) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._number = 0
        uri = root.as_uri()
        first = self._request(
            "initialize",
            {
                "processId": None,
                "rootUri": uri,
                "workspaceFolders": [{"uri": uri, "name": root.name}],
                "capabilities": {"workspace": {"workspaceFolders": True, "configuration": True}},
            },
        )
        self._answers({first})
        self._notify("initialized", {})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def open(self, path: str, text: str) -> None:
        """Show it a file."""
        document = {"uri": Path(path).as_uri(), "languageId": "python", "version": 1, "text": text}
        self._notify("textDocument/didOpen", {"textDocument": document})

    def definitions(self, batch: Sequence[_Question]) -> list[list[tuple[str, int]]]:
        """For each question, the places (path, 0-based line) that answer it."""
        numbers = [
            self._request(
                "textDocument/definition",
                {
                    "textDocument": {"uri": Path(each.path).as_uri()},
                    "position": {"line": each.line, "character": each.character},
                },
            )
            for each in batch
        ]
        answers = self._answers(set(numbers))
        return [list(_places(answers[number])) for number in numbers]

    def _request(self, method: str, parameters: Mapping[str, Any]) -> int:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": parameters})
        return self._number

    def _notify(self, method: str, parameters: Mapping[str, Any]) -> None:
        self._send({"method": method, "params": parameters})

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        self._process.stdin.flush()

    def _answers(self, waiting: set[int]) -> dict[int, Any]:
        answers: dict[int, Any] = {}
        while waiting:
            message = self._receive()
            if "method" in message and "id" in message:  # it asks us
                asked = message["params"].get("items", []) if message.get("params") else []
                self._send({"id": message["id"], "result": [None for _ in asked]})
            elif message.get("id") in waiting:
                waiting.discard(message["id"])
                answers[message["id"]] = message.get("result")
        return answers

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        length = 0
        while line := self._process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not length:
            raise OSError("the language server has ended")
        message: dict[str, Any] = json.loads(self._process.stdout.read(length))
        return message


def _places(result: Any) -> Iterator[tuple[str, int]]:
    if result is None:
        return
    for each in result if isinstance(result, list) else [result]:
        uri = each.get("targetUri") or each["uri"]
        span = each.get("targetSelectionRange") or each["range"]
        yield unquote(urlparse(uri).path), span["start"]["line"]
