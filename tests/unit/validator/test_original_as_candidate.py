"""A harness is of use only where the original passes as a candidate."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from depslice.validator.validation import Accepted, Gates, Rejected, Session, parse_harness
from depslice.validator.validation.candidates import Same, open_referee
from harnesses import validating, verdict_on

SOURCE = {
    "small.py": """\
        import random
        from pathlib import Path


        def drawn(n):
            if n < 0:
                return -1
            return random.random() * n


        def lines(path):
            if not Path(path).exists():
                return []
            return [path, *Path(path).read_text().splitlines()]
        """
}
CHANCE = """
def test_drawn(candidate, reference):
    assert type(candidate(3)) == type(reference(3))
    assert 0 <= candidate(3) <= 3
    assert candidate(-3) == reference(-3)
"""
FOLDERS = {
    "of the test": """
def test_lines(context, tmp_path):
    (tmp_path / "a").write_text("x")
    context.check(str(tmp_path / "a"))
    context.check(str(tmp_path / "b"))
""",
    "of its own": """
import os, tempfile
def test_lines(candidate, reference):
    with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "a"), "w") as file:
        file.write("x")
        file.flush()
        assert candidate(file.name) == reference(file.name) == [file.name, "x"]
        assert candidate(folder + "/b") == reference(folder + "/b")
""",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("small")
    with validating(folder, SOURCE, gates=Gates(seconds=5, mutation=0.5)) as found:
        yield found


def test_chance_that_no_assertion_looks_at(session: Session) -> None:
    verdict = verdict_on(session, "small:drawn", CHANCE)
    assert isinstance(verdict, Rejected), verdict
    assert [each.slug for each in verdict.reasons] == ["original-differs"]
    assert "test_drawn: drawn(3) gave" in verdict.reasons[0].message


@pytest.mark.parametrize("name", FOLDERS)
def test_temporary_folders_have_other_names_each_time(session: Session, name: str) -> None:
    verdict = verdict_on(session, "small:lines", FOLDERS[name])
    assert isinstance(verdict, Accepted), verdict
    harness = parse_harness(FOLDERS[name], session.ground.program, target="small:lines")
    _, _, text = (session.ground.tree.folder / "small.py").read_text().partition("def lines")
    with open_referee(session.ground, session.gates) as referee:
        assert referee.compare(harness, "def lines" + text) == Same()
