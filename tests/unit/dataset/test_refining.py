"""A specification as it stands in the answer of a model, whatever it has put around it."""

from __future__ import annotations

import pytest

from depslice.dataset.refining import refine
from depslice.llm.port import BadReply
from depslice.prompts import Message
from depslice.prompts.model import Prompt
from scripted import ScriptedModel, said

PROMPT = Prompt(
    messages=(Message(role="user", content="Write it."),),
    builder="refine",
    version="1",
    strategy="naive",
    tokens=2,
    tokenizer="characters/4",
    digest="",
)
BARE = "Half of n.\n\n>>> half(4)\n2"
FUNCTION = '''def half(n):
    """Half of n.

    >>> half(4)
    2
    """
    return n // 2'''


@pytest.mark.parametrize(
    "answer",
    [
        BARE,
        f"```\n{BARE}\n```",
        f'"""{BARE}"""',
        f'```python\n"""\n{BARE}\n"""\n```',
        f'Here it is:\n\n```python\n"""{BARE}"""\n```\n\nDoes it suffice?',
        f"Here is the docstring:\n\n{BARE}",
        f"**Docstring for `half`:**\n\n```\n{BARE}\n```\n\nIt says all that can be seen.",
        f'The docstring of `half`:\n\n"""\n{BARE}\n"""\n\nDoes it suffice?',
        FUNCTION,
        f"```python\n{FUNCTION}\n```",
        f"Sure.\n```python\nimport math\n\n{FUNCTION}\n```\n",
    ],
)
def test_the_docstring_alone_is_taken(answer: str) -> None:
    assert refine(ScriptedModel([said(answer)]), PROMPT).text == BARE


@pytest.mark.parametrize(
    "answer",
    [
        "Half of n:\n\n```\nhalf(4) == 2\n```\n\nRounds down.",
        "Half.\n```\n'a'\n```\nOr\n```\n'b'\n```",
    ],
)
def test_what_is_fenced_in_it_stays(answer: str) -> None:
    assert refine(ScriptedModel([said(answer)]), PROMPT).text == answer


def test_code_without_a_docstring_is_none() -> None:
    model = ScriptedModel([said("```python\ndef half(n):\n    return n // 2\n```")])
    with pytest.raises(BadReply, match="the answer is code, and no docstring"):
        refine(model, PROMPT)
