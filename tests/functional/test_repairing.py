"""``depslice slice --check --repair``: what it says where nothing helps."""

from __future__ import annotations

from pathlib import Path

from functional.running import Depslice


def test_a_repair_that_did_not_help_says_so(depslice: Depslice, tmp_path: Path) -> None:
    app, calls = tmp_path / "app.py", tmp_path / "calls.py"
    app.write_text(
        "import sys\nT = {}\nsys._getframe().f_globals['T'][1] = 2\ndef look(): return T[1]\n"
    )
    calls.write_text("import app\napp.look()\n")
    done = depslice("slice", app, "look", "--check", "--repair", "--calls", calls)
    assert done.code == 1, done.err
    assert "--repair did not mend it" in done.err
    app.write_text("def look(): return 2\n")
    done = depslice("slice", app, "look", "--check", "--repair", "--calls", calls)
    assert done.code == 0, done.err
    assert "did not mend" not in done.err
