"""What is read of the answers of runs in the sandbox."""

from __future__ import annotations

import pytest

from depslice.validator.child.evidence import answers


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (
            {"ended": "import", "why": "ValueError: 3"},
            (False, "its module cannot be imported: ValueError: 3"),
        ),
        ({"ended": "time"}, (False, "time")),
        ({"ended": "result", "results": []}, (True, "")),
        ({"ended": "result", "results": [["test_a", "failed", "", 0.1]]}, (False, "test_a")),
    ],
)
def test_what_stopped_a_run(answer: dict[str, object], told: tuple[bool, str]) -> None:
    """Of an import that failed it was not told how: "it does not pass: import"."""
    assert answers.passes(answer) == told
