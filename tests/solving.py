"""What tests of solvers share: a small problem, programs for it, and a scripted conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from depslice.llm.port import Options, Usage
from depslice.prompts.model import Message
from depslice.solvers.bench import Solver
from depslice.solvers.execution.executor import Executor
from depslice.solvers.execution.outcome import Execution
from depslice.solvers.problem import HiddenTests, Problem, Task, VisibleTest
from depslice.solvers.running.local import LocalBench
from depslice.solvers.running.record import Attempt
from scripted import ScriptedModel

SPECIFICATION = '''\
def middle(numbers):
    """The number in the middle of the sorted numbers; None if there are none.
    >>> middle([3, 1, 2])
    2
    """'''

MIDDLE = Problem(
    id="middle",
    specification=SPECIFICATION,
    entry_point="middle",
    visible=(
        VisibleTest(text="assert middle([3, 1, 2]) == 2"),
        VisibleTest(text="assert middle([5]) == 5"),
    ),
)
TASK = Task(
    problem=MIDDLE,
    hidden=HiddenTests(program="assert middle([]) is None\nassert middle([9, 7, 8]) == 8"),
)

RIGHT = "def middle(numbers):\n    return sorted(numbers)[len(numbers) // 2] if numbers else None"
OVERFITTED = "def middle(numbers):\n    return sorted(numbers)[len(numbers) // 2]"
HALF = (
    "def middle(numbers):\n    return numbers[-1] if numbers[0] > 2 else 0"  # both; not [9, 7, 8]
)
FIRST = "def middle(numbers):\n    return numbers[0]"  # 1 of 2 visible tests
NOTHING = "def middle(numbers):\n    pass"  # 0 of 2

ATTEMPT = Attempt(
    solver="direct",
    problem="p0",
    sample=0,
    strategy="",
    model="a<b>",
    answer="x",
    why="",
    visible=1.0,
    tests=2,
    passed=True,
    oracle=0,
    usage=Usage(calls=1, input_tokens=100, output_tokens=50, seconds=2.0, dollars=0.01),
    programs=1,
    cpu_seconds=0.5,
    wall_seconds=3.0,
    events=(),
)

# Words that only one prompt has: which agent is asked, and for what.
ASKED = {
    "write": "Complete this Python function. Answer with one Python code block",
    "think": "Let's think step by step",
    "reflect": "Say in a few sentences why the code fails",
    "retry": "What was learned so far",
    "repair": "Repair the code.",
    "strategies": "List the strategies",
    "implement": "Follow this strategy faithfully",
    "reflections": "List ways to repair the code",
    "debug": "Rewrite the code, following this advice",
    "score": "Judge the code in two numbers",
    "verify": "Review it: is it general",
    "plan": "Develop a new plan",
    "follow": "according to the plan",
}


def block(code: str) -> str:
    """Code as models give it."""
    return f"Here it is.\n```python\n{code}\n```"


@dataclass(slots=True, kw_only=True)
class Conversation:
    """A solver at work on :data:`MIDDLE`, with a model that says what was written down.

    ``script`` has pairs: what the solver has to ask for, and what it is told.
    """

    script: Sequence[tuple[str, str]]
    executor: Executor
    problem: Problem = MIDDLE
    oracle: bool = False
    executed: list[str] = field(default_factory=list)
    bench: LocalBench = field(init=False)
    model: ScriptedModel = field(init=False)

    def __post_init__(self) -> None:
        self.model = ScriptedModel([reply for _, reply in self.script])
        self.bench = LocalBench(
            problem=self.problem,
            model=self.model,
            visible=self._visible,
            hidden=self._hidden if self.oracle else None,
            options=Options(),
        )

    def solve(self, solver: Solver) -> str:
        """The answer, after the whole script, in its order."""
        answer = solver.solve(self.bench)
        assert [asked_for(messages) for messages in self.model.asked] == [
            wanted for wanted, _ in self.script
        ]
        return answer

    def prompt(self, number: int) -> str:
        """The text of the request of this number."""
        return "\n".join(message.content for message in self.model.asked[number])

    def _visible(self, code: str) -> Execution:
        self.executed.append(code)
        return self._run(code, self.problem.visible)

    def _hidden(self, code: str) -> Execution:
        return self._run(code, [VisibleTest(text=TASK.hidden.program)])

    def _run(self, code: str, tests: Sequence[VisibleTest]) -> Execution:
        return self.executor.run(code, tests, entry_point=self.problem.entry_point)


def asked_for(messages: Sequence[Message]) -> str:
    """Which prompt this is."""
    text = "\n".join(message.content for message in messages)
    [found] = [name for name, words in ASKED.items() if words in text] or ["?"]
    return found
