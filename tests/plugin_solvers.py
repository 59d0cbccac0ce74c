"""Solvers as others write them, some with bad intentions: installed by tests, never imported here."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

SOURCE = dedent(
    '''
    import gc, os, re, socket, sys, threading
    from pathlib import Path

    MARK = re.compile(b"HID" + b"DEN-[0-9a-f]{32}")  # never as one literal


    class Thief:
        """Looks for hidden tests wherever a process can look; its answer tells what it found."""

        def solve(self, bench):
            self.looked, self.found = {}, []
            for place in (self.files, self.environment, self.processes, self.stack, self.garbage):
                name = place.__name__
                for text in place():
                    self.looked[name] = self.looked.get(name, 0) + 1
                    if MARK.search(text):
                        self.found.append(name)
            self.looked["sockets"] = self.sockets(bench)
            return f"# {sorted(set(self.found))} {self.looked}"

        def files(self):
            for folder, folders, names in os.walk("/"):
                if folder in ("/proc", "/sys", "/dev", "/usr"):
                    folders.clear()
                    continue
                folders[:] = [f for f in folders if f not in ("site-packages", "__pycache__", "lib")]
                for name in names:
                    path = Path(folder, name)
                    try:
                        if path.is_file() and path.stat().st_size < 1 << 20:
                            yield path.read_bytes()
                    except OSError:
                        pass

        def environment(self):
            yield repr(dict(os.environ)).encode()

        def processes(self):
            for process in Path("/proc").iterdir():
                if not process.name.isdigit():
                    continue
                for name in ("environ", "cmdline"):
                    try:
                        yield (process / name).read_bytes()
                    except OSError:
                        pass
                try:
                    maps = (process / "maps").read_text().splitlines()
                    with open(process / "mem", "rb") as memory:
                        for line in maps:
                            span, rights = line.split()[:2]
                            start, end = (int(each, 16) for each in span.split("-"))
                            if rights.startswith("rw") and end - start < 1 << 26:
                                memory.seek(start)
                                yield memory.read(end - start)
                except (OSError, ValueError):
                    pass

        def stack(self):
            for frame in sys._current_frames().values():
                while frame:
                    yield repr((frame.f_locals.keys(), frame.f_globals.keys())).encode()
                    for value in [*frame.f_locals.values(), *frame.f_globals.values()]:
                        if isinstance(value, (str, bytes)):
                            yield value.encode() if isinstance(value, str) else value
                    frame = frame.f_back

        def garbage(self):
            for each in gc.get_objects():
                for value in gc.get_referents(each):
                    if isinstance(value, str):
                        yield value.encode("utf-8", "replace")

        def sockets(self, bench):
            port = int(bench.problem.context.partition("port ")[2] or 0)
            for family, address in (
                (socket.AF_INET, ("127.0.0.1", port)), (socket.AF_UNIX, chr(0) + f"depslice-{port}")
            ):
                try:
                    with socket.socket(family) as line:
                        line.settimeout(2)
                        line.connect(address)
                        self.found.append("sockets")
                except OSError:
                    pass
            return 2


    class Judge:
        def solve(self, bench):
            return str(bench.judge("def middle(numbers): return 1"))


    class Silent:
        def solve(self, bench):
            os._exit(0)


    class Restless:
        def solve(self, bench):
            while True:
                bench.run("def middle(numbers): return 1")


    class Nobody:
        def solve(self, bench):
            return None


    class Raising:
        def solve(self, bench):
            raise KeyError("no idea")


    class Liar:
        """Tells the runner what it likes."""

        def solve(self, bench):
            bench._channel.send({"kind": "hidden", "please": True})
            bench._channel.receive()


    class Babbler:
        def solve(self, bench):
            bench.note("first", what="you")
            bench._channel.send({"kind": "note", "event": "second", "what": {"event": 1}})
            bench._channel.send({"kind": "ask", "messages": [{"role": "king"}], "temperature": 0})
            bench._channel.receive()


    class Endless:
        def solve(self, bench):
            return "x" * (1 << 20)


    class Hot:
        def solve(self, bench):
            return bench.ask([], temperature=10 ** 400)


    class Cold:
        def solve(self, bench):
            return bench.ask([], temperature=-1)


    class Talker:
        """Notes that are deep, or long."""

        def solve(self, bench):
            deep = []
            for _ in range(900):
                deep = [deep]
            bench.note("deep", it=deep)
            for _ in range(30):
                bench.note("long", it="x" * 100_000)
            return "x"


    class Lines:
        def solve(self, bench):
            raise ValueError("one\\ntwo")
    '''
)

_MORE = ("Hot", "Cold", "Talker", "Lines")
NAMES = (
    "Thief",
    "Judge",
    "Silent",
    "Nobody",
    "Restless",
    "Raising",
    "Liar",
    "Babbler",
    "Endless",
    *_MORE,
)


def install(folder: Path) -> Path:
    """Put them into ``folder`` as an installed package does; their names are in lower case."""
    folder.chmod(0o755)  # as where packages are installed
    (folder / "others_solvers.py").write_text(SOURCE, encoding="utf-8")
    metadata = folder / "others_solvers-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: others-solvers\nVersion: 1.0\n", encoding="utf-8"
    )
    lines = [f"{name.lower()} = others_solvers:{name}" for name in NAMES]
    lines += ["missing = others_solvers:Missing", "nothing = others_solvers:MARK"]
    (metadata / "entry_points.txt").write_text(
        "[depslice.solvers]\n" + "\n".join(lines) + "\n", encoding="utf-8"
    )
    return folder
