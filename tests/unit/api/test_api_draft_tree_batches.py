"""Draft trees of many matchers in one call."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from letters import (
    AB,
    CHAIN,
    END,
    FREE,
    STOP,
    UNTOUCHED,
    A,
    Arrays,
    B,
    C,
    array,
    changed,
    mask,
    matcher,
)
from maskwright import (
    BatchError,
    BatchGrammarMatcher,
    BitmaskError,
    DraftTreeError,
    GrammarMatcher,
    MaskwrightError,
    MatcherError,
)


def three_matchers() -> list[GrammarMatcher]:
    return [matcher(), matcher("abc"), matcher("[bc]+")]


def blocks(bitmask: Any, nodes: int = 3) -> list[list[int]]:
    return [list(block) for block in bitmask.reshape(-1, nodes).tolist()]


SPACE = [UNTOUCHED] * 3


@pytest.mark.parametrize("threads", [1, 2])
def test_one_tree_for_all(threads):
    bitmask = np.full((12, 1), UNTOUCHED, dtype=np.int32)
    links = [array(values, np.int32) for values in CHAIN]
    tokens = array([[0, 0, 1], [0, 2, 3], [0, 1, 0]])
    batch = BatchGrammarMatcher(threads)
    assert batch.batch_traverse_draft_tree(three_matchers(), *links, tokens, bitmask) == [True] * 3
    assert blocks(bitmask) == [
        *([A | AB, FREE, FREE], [A | AB, C, END], [B | C, B | C | END, 0]),
        SPACE,
    ]


def test_a_tree_for_each_and_sparse_rows():
    bitmask = np.full((15, 1), UNTOUCHED, dtype=np.int32)
    children = array([[1, -1, -1], [9, 9, 9], [1, 2, -1], [-1, -1, -1], [9, 9, 9]])
    siblings = array([[-1, 2, -1], [9, 9, 9], [-1, -1, -1], [-1, -1, -1], [9, 9, 9]])
    tokens = array([[0, 0, 2], [0, 0, 0], [0, 0, 1], [0, 1, 1], [0, 0, 0]])
    # Rows that nobody has are not looked at: 1 and 4 hold no tree.
    done = BatchGrammarMatcher().batch_traverse_draft_tree(
        three_matchers(), children, siblings, tokens, bitmask, [2, 0, 3], [0, 0, 1]
    )
    assert done == [True] * 3
    assert blocks(bitmask) == [
        *([A | AB, B, C], SPACE, [A | AB, FREE, FREE], [0, B | C, 0]),
        SPACE,
    ]


def test_roots_of_a_shared_tree():
    bitmask = np.full((9, 1), UNTOUCHED, dtype=np.int32)
    links = [array(values) for values in CHAIN]
    BatchGrammarMatcher().batch_traverse_draft_tree(
        three_matchers(), *links, array([[0, 0, 0]] * 3), bitmask, root_positions=array([2, 0, 1])
    )
    assert blocks(bitmask) == [[0, 0, A | AB], [A | AB, B, 0], [0, B | C, 0]]


# Refusals -----------------------------------------------------------------------------------------

ON_CPU = r", strides \(1,\), on cpu; expected "


def grid(row: list[int], rows: int = 3) -> Any:
    return array([row] * rows)


#: Name -> change to the arguments of three matchers, class, code, the whole text.
BATCH: dict[str, tuple[Callable[[Arrays], None], type[MaskwrightError], str, str]] = {
    "no matcher": (
        changed(matchers=[1, 2, 3]),
        *(BatchError, "batch-not-a-matcher"),
        r"matchers\[0\] is a int; expected a GrammarMatcher",
    ),
    "a matcher twice": (
        lambda arrays: arrays.update(matchers=arrays["matchers"][:1] * 2),
        *(BatchError, "batch-same-matcher"),
        r"matchers 0 and 1 are the same one; name each only once, or pass a fork\(\) of it",
    ),
    "fewer rows of tokens": (
        changed(draft_tokens=grid([0, 0, 0], 2)),
        *(BatchError, "batch-rows"),
        r"draft_tokens has 2 rows for 3 matchers; it needs one for each",
    ),
    "an index outside": (
        changed(indices=[0, 1, 3]),
        *(BatchError, "batch-index"),
        r"index 3 of matcher 2 does not exist: draft_tokens has 3 rows; pass indices from 0 to 2",
    ),
    "an index twice": (
        changed(indices=[0, 1, 1]),
        *(BatchError, "batch-index-twice"),
        r"index 1 is given for matcher 1 and matcher 2; each needs a row of its own",
    ),
    "fewer indices": (
        changed(indices=[0, 1]),
        *(BatchError, "batch-lengths"),
        r"the numbers of matchers \(3\) and of indices \(2\) differ; give one for each matcher",
    ),
    "fewer roots": (
        changed(root_positions=[0, 0]),
        *(BatchError, "batch-lengths"),
        (
            r"the numbers of matchers \(3\) and of root_positions \(2\) differ; give one for each "
            r"matcher"
        ),
    ),
    "a root outside": (
        changed(root_positions=[0, 0, 3]),
        *(DraftTreeError, "draft-tree-root"),
        r"the root position is 3; expected a node from 0 to 2",
    ),
    "a root that is 0 in 32 bits": (
        changed(root_positions=[0, 2**32, 0]),
        *(DraftTreeError, "draft-tree-root"),
        r"the root position is 4294967296; expected a node from 0 to 2",
    ),
    "a loop in the last tree": (
        changed(
            retrieve_next_token=array([[1, 2, -1], [1, 2, -1], [1, 2, 0]]),
            retrieve_next_sibling=grid([-1, -1, -1]),
        ),
        *(DraftTreeError, "draft-tree-loop"),
        (
            r"row 2: the links lead from node [012] back to itself; a tree has one "
            r"way to each of its "
            r"nodes"
        ),
    ),
    "a child outside in the last tree": (
        changed(
            retrieve_next_token=array([[1, 2, -1], [1, 2, -1], [1, 2, 3]]),
            retrieve_next_sibling=grid([-1, -1, -1]),
        ),
        *(DraftTreeError, "draft-tree-link"),
        r"row 2: retrieve_next_token of node 2 is 3; expected a node from 0 to 2, or -1 for none",
    ),
    "a shared tree and siblings for each": (
        changed(retrieve_next_sibling=grid([-1, -1, -1])),
        *(DraftTreeError, "draft-tree-shape"),
        (
            r"retrieve_next_sibling is an int64 array of shape \(3, 3\), strides \(3, 1\), on cpu; "
            r"expected one dimension, the nodes"
        ),
    ),
    "fewer trees than tokens": (
        changed(
            retrieve_next_token=grid([1, 2, -1], 2), retrieve_next_sibling=grid([-1, -1, -1], 2)
        ),
        *(DraftTreeError, "draft-tree-sizes"),
        (
            r"retrieve_next_token is an int64 array of shape \(2, 3\), strides \(3, 1\), on cpu; "
            r"expected 3 rows, as many as draft_tokens has"
        ),
    ),
    "tokens of one dimension": (
        changed(draft_tokens=array([0, 0, 0])),
        *(DraftTreeError, "draft-tree-shape"),
        r"draft_tokens is an int64 array of shape \(3,\)" + ON_CPU + r"two dimensions, rows and "
        r"nodes",
    ),
    "tokens with gaps between rows": (
        changed(draft_tokens=grid([0, 0, 0, 0])[:, :3]),
        *(DraftTreeError, "draft-tree-strides"),
        (
            r"draft_tokens is an int64 array of shape \(3, 3\), strides \(4, 1\), "
            r"on cpu; expected a "
            r"contiguous array"
        ),
    ),
    "too few rows": (
        changed(bitmask=np.full((8, 1), UNTOUCHED, dtype=np.int32)),
        *(BitmaskError, "bitmask-rows"),
        (
            r"bitmask is an int32 array of shape \(8, 1\), strides \(1, 1\), on "
            r"cpu; expected 9 rows "
            r"or more: 3 nodes for each row up to 2"
        ),
    ),
}


@pytest.mark.parametrize("name", BATCH)
def test_what_a_batch_refuses_has_changed_nothing(name):
    change, kind, code, text = BATCH[name]
    matchers = three_matchers()
    before = [mask(one) for one in matchers]
    arrays: Arrays = {
        "matchers": matchers,
        "retrieve_next_token": array(CHAIN[0]),
        "retrieve_next_sibling": array(CHAIN[1]),
        "draft_tokens": grid([0, 0, 0]),
        "bitmask": np.full((9, 1), UNTOUCHED, dtype=np.int32),
    }
    change(arrays)
    with pytest.raises(kind) as caught:
        BatchGrammarMatcher(2).batch_traverse_draft_tree(**arrays)
    assert type(caught.value) is kind
    assert caught.value.code == code
    assert re.fullmatch(text, str(caught.value), re.DOTALL), str(caught.value)
    assert (arrays["bitmask"] == UNTOUCHED).all()
    assert [mask(one) for one in matchers] == before


def test_a_terminated_matcher_in_a_batch():
    matchers = three_matchers()
    assert matchers[2].accept_token(1)
    assert matchers[2].accept_token(STOP)
    bitmask = np.full((9, 1), UNTOUCHED, dtype=np.int32)
    links = [array(values) for values in CHAIN]
    with pytest.raises(MatcherError, match=r"^matcher 2 is terminated") as caught:
        BatchGrammarMatcher().batch_traverse_draft_tree(matchers, *links, grid([0, 0, 0]), bitmask)
    assert caught.value.code == "matcher-terminated"
    assert (bitmask == UNTOUCHED).all()
