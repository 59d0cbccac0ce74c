"""CodeTree, step by step as in sections 3 and 4 of the paper.

Each test is a conversation: what the search asks its agents for, in order, and what they say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from depslice.solvers.bench import Solver
from depslice.solvers.choosing import SolverSpec, load_solver
from depslice.solvers.execution.executor import Executor
from depslice.solvers.methods.codetree import CodeTree
from depslice.solvers.methods.codetree.agents import _items, _mark
from solving import FIRST, HALF, NOTHING, OVERFITTED, RIGHT, Conversation, block

Script = Sequence[tuple[str, str]]
Talk = Callable[[Script, Solver], tuple[str, Conversation]]
ONE_STRATEGY = ("strategies", "1. Sort, and take the one in the middle.")
TWO_STRATEGIES = ("strategies", "1. Sort.\n\n2. **Select** the median.\n   With a heap.")
GOOD, BAD = "Results: 4\nStrategy: 5", "Results: 0\nStrategy: 0"
ACCEPT, REFINE = "Score: 5\nDecision: accept", "An empty list fails.\nScore: 1\nDecision: refine"


@pytest.fixture
def talk(executor: Executor) -> Talk:
    def talked(script: Script, solver: Solver) -> tuple[str, Conversation]:
        conversation = Conversation(script=script, executor=executor)
        return conversation.solve(solver), conversation

    return talked


def decisions(conversation: Conversation) -> list[str]:
    return [event["decision"].partition("(")[0] for event in conversation.bench.events]


def test_the_first_program_passes_and_is_accepted(talk: Talk) -> None:
    answer, search = talk(
        [ONE_STRATEGY, ("implement", block(RIGHT)), ("verify", ACCEPT)], CodeTree()
    )
    assert answer == RIGHT
    assert "Sort, and take the one in the middle." in search.prompt(1)
    assert decisions(search) == ["Accept"]


def test_a_program_that_passes_but_is_not_general_is_refined_with_the_review(talk: Talk) -> None:
    answer, search = talk(
        [
            ONE_STRATEGY,
            ("implement", block(OVERFITTED)),
            ("verify", REFINE),
            ("debug", block(RIGHT)),
            ("verify", ACCEPT),
        ],
        CodeTree(),
    )
    assert answer == RIGHT
    assert OVERFITTED in search.prompt(3)
    assert "An empty list fails." in search.prompt(3)  # the Debugger gets the Critic's review
    assert decisions(search) == ["Refine", "Accept"]


def test_reflections_on_a_program_that_fails_become_its_children(talk: Talk) -> None:
    answer, search = talk(
        [
            ONE_STRATEGY,
            ("implement", block(FIRST)),
            ("score", BAD),
            ("reflections", "1. It does not sort.\n2. It takes the first."),
            ("debug", block(NOTHING)),
            ("score", BAD),  # no better than its parent: nothing grows from it
            ("debug", block(RIGHT)),
            ("verify", ACCEPT),
        ],
        CodeTree(),
    )
    assert answer == RIGHT
    assert decisions(search) == ["Refine", "Abort", "Accept"]
    assert "the result is 3" in search.prompt(3)  # the Thinker sees what the tests say
    first, second = search.prompt(4), search.prompt(6)
    assert "It does not sort." in first
    assert "It takes the first." not in first
    assert FIRST in second  # both children come from the same parent
    assert "It takes the first." in second


def test_a_child_that_is_better_than_its_parent_grows_on_to_the_depth_limit(talk: Talk) -> None:
    answer, search = talk(
        [
            ONE_STRATEGY,
            ("implement", block(NOTHING)),
            ("score", BAD),
            ("reflections", "Return something."),  # no list: one reflection
            ("debug", block(FIRST)),
            ("score", BAD),
            ("reflections", "1. Sort."),
            ("debug", block(FIRST + "  # sorted")),
            ("score", GOOD),  # better, but at depth 3
        ],
        CodeTree(),
    )
    assert decisions(search) == ["Refine", "Refine", "Abort"]
    assert "depth" in search.bench.events[-1]["decision"]
    assert answer == FIRST + "  # sorted"


def test_the_answer_of_an_empty_frontier_is_the_best_node_and_not_the_last(talk: Talk) -> None:
    answer, search = talk(
        [
            TWO_STRATEGIES,
            ("implement", block(FIRST)),  # 1/2 of the tests
            ("score", GOOD),
            ("implement", block(NOTHING)),
            ("score", BAD),
        ],
        CodeTree(depth=1),
    )
    assert answer == FIRST
    assert search.bench.events[0]["score"] == pytest.approx(0.5 + 0.9)
    assert "With a heap." in search.prompt(3)


def test_the_critic_decides_between_programs_that_pass_as_many_tests(talk: Talk) -> None:
    other = FIRST + "  # faithful"
    answer, _ = talk(
        [
            TWO_STRATEGIES,
            ("implement", block(FIRST)),
            ("score", "Results: 1, Strategy: 1"),
            ("implement", block(other)),
            ("score", "**Results:** 1\n**Strategy:** 3"),
        ],
        CodeTree(depth=1),
    )
    assert answer == other


def test_every_program_costs_one_of_the_budget(talk: Talk) -> None:
    answer, search = talk(
        [
            TWO_STRATEGIES,
            ("implement", block(NOTHING)),
            ("score", BAD),
            ("reflections", "1. Sort.\n2. Search.\n3. Think."),
            ("debug", block(FIRST)),
            ("score", BAD),
        ],
        CodeTree(budget=2),
    )
    assert answer == FIRST
    assert search.bench.programs == 2
    assert "budget" in search.bench.events[-1]["decision"]  # no reflections nobody can use


def test_width_limits_strategies_and_reflections(talk: Talk) -> None:
    _, search = talk(
        [
            TWO_STRATEGIES,
            ("implement", block(FIRST)),
            ("score", GOOD),
            ("reflections", "1. Sort.\n2. Search."),
            ("debug", block(FIRST)),
            ("score", BAD),
        ],
        CodeTree(width=1),
    )
    assert "1 at most" in search.prompt(0)
    assert "1 at most" in search.prompt(3)


def test_depth_first_follows_children_before_the_next_strategy(talk: Talk) -> None:
    answer, _ = talk(
        [
            TWO_STRATEGIES,
            ("implement", block(NOTHING)),
            ("reflections", "1. Sort."),
            ("debug", block(RIGHT)),
        ],
        CodeTree(critic=False, search="dfs"),
    )
    assert answer == RIGHT


def test_breadth_first_implements_all_strategies_before_it_debugs(talk: Talk) -> None:
    answer, _ = talk(
        [
            TWO_STRATEGIES,
            ("implement", block(NOTHING)),
            ("reflections", "1. Sort."),
            ("implement", block(FIRST)),
            ("reflections", "1. Sort."),
            ("debug", block(RIGHT)),
        ],
        CodeTree(critic=False, search="bfs"),
    )
    assert answer == RIGHT


def test_without_critic_a_program_that_passes_is_accepted(talk: Talk) -> None:
    answer, _ = talk([ONE_STRATEGY, ("implement", block(OVERFITTED))], CodeTree(critic=False))
    assert answer == OVERFITTED


def test_strategy_list_implements_each_strategy_once(talk: Talk) -> None:
    solver = load_solver(SolverSpec.of("strategy-list"))
    answer, _ = talk(
        [TWO_STRATEGIES, ("implement", block(FIRST)), ("implement", block(NOTHING))], solver
    )
    assert answer == FIRST


def test_the_ablation_without_verification(talk: Talk) -> None:
    answer, _ = talk([ONE_STRATEGY, ("implement", block(OVERFITTED))], CodeTree(verification=False))
    assert answer == OVERFITTED


def test_the_ablation_without_abort_goes_on_from_a_node_that_is_no_better(talk: Talk) -> None:
    answer, _ = talk(
        [
            ONE_STRATEGY,
            ("implement", block(FIRST)),
            ("score", GOOD),
            ("reflections", "1. Sort."),
            ("debug", block(NOTHING)),
            ("score", BAD),
            ("reflections", "1. Sort."),
            ("debug", block(RIGHT)),
            ("verify", ACCEPT),
        ],
        CodeTree(abort=False),
    )
    assert answer == RIGHT


def test_the_ablation_without_scoring_compares_executions_alone(talk: Talk) -> None:
    answer, search = talk(
        [
            ONE_STRATEGY,
            ("implement", block(NOTHING)),
            ("reflections", "1. Sort."),
            ("debug", block(FIRST)),  # better: 1/2
            ("reflections", "1. Sort."),
            ("debug", block(NOTHING)),
        ],
        CodeTree(scoring=False),
    )
    assert answer == FIRST
    assert [event["score"] for event in search.bench.events] == [0.0, 0.5, 0.0]


def test_a_review_that_rejects_at_the_depth_limit_leaves_the_program_in_the_running(
    talk: Talk,
) -> None:
    answer, search = talk(
        [
            TWO_STRATEGIES,
            ("implement", block(OVERFITTED)),
            ("verify", REFINE),
            ("implement", block(NOTHING)),
            ("score", BAD),
        ],
        CodeTree(depth=1),
    )
    assert answer == OVERFITTED
    assert decisions(search) == ["Abort", "Abort"]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("codetree-bfs", {"critic": False, "search": "bfs", "depth": 3, "width": 3}),
        ("codetree-dfs", {"critic": False, "search": "dfs", "depth": 3, "width": 3}),
        ("codetree-bfs:depth=2,width=4", {"critic": False, "search": "bfs", "depth": 2}),
        ("strategy-list", {"critic": False, "depth": 1, "width": 20}),
        ("codetree", {"critic": True, "budget": 20, "depth": 3, "width": 10}),
    ],
)
def test_variants_are_options_of_the_same_search(name: str, options: dict[str, object]) -> None:
    solver = load_solver(SolverSpec.of(name))
    assert isinstance(solver, CodeTree)
    assert {key: getattr(solver, key) for key in options} == options


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("Results: 4", 4),
        ("Results = 4/5", 4),
        ("**Results:** 3.5", 3.5),
        ("Results (0-5): 4", 4),
        ("**Results** (out of 5): 4", 4),
        ("The results 2 of 3.\nResults: 5 (out of 5)", 5),
        ("Results: 7", 5),
        ("Results: -3", 0),
        ("Results: four", 0),
        ("Results: `4`", 4),
        ("Results - 4", 4),
    ],
)
def test_marks_as_models_write_them(text: str, mark: float) -> None:
    assert _mark("results", text) == mark / 5


@pytest.mark.parametrize(
    ("said", "decision"),
    [
        ("Decision: accept", "Accept"),
        ("**Decision:** ACCEPT it.", "Accept"),
        ("It is fine.", "Accept"),
        ("**Decision**: I would refine it.", "Refine"),
        ("Decision: do not accept", "Refine"),
        ("**Decision**\n\nRefine", "Refine"),
        ("## Decision\nI would revise it.", "Refine"),
        ("Decision: unacceptable", "Refine"),
        ("Decision: refine. This decision is final.", "Refine"),
        ("Decision: accept. There is no need to refine it.", "Accept"),
        ("Decision: accept\nOn reflection:\nDecision: refine", "Refine"),
    ],
)
def test_decisions_as_models_write_them(talk: Talk, said: str, decision: str) -> None:
    script = [("strategies", "1. Sort."), ("implement", block(HALF)), ("verify", said)]
    _, search = talk(script, CodeTree(budget=1))
    assert search.bench.events[0]["decision"].startswith(decision)


@pytest.mark.parametrize(
    "text",
    [
        "1. Sort.\n2. Search.",
        "Two ways:\n\n1) Sort.\n\n2) Search.",
        "### 1. Sort.\n\n### 2. Search.",
        "Strategy 1: Sort.\nStrategy 2: Search.",
        "**1.** Sort.\n**2.** Search.",
        "(1) Sort.\n(2) Search.",
        "- Sort.\n- Search.",
    ],
)
def test_lists_as_models_write_them(text: str) -> None:
    first, second = _items(text)
    assert "Sort." in first
    assert "Search." in second
    assert len(_items(f"{text}\n   1. First do this.\n   2. Then that.")) == 2
    assert _items("Just sort.") == ("Just sort.",)
    assert len(_items("1. Take\n3.14 as pi.\n2. Or not.")) == 2
