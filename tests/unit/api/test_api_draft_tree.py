"""Draft trees: `traverse_draft_tree` of one matcher."""

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
    BitmaskError,
    DraftTreeError,
    GrammarMatcher,
    MaskwrightError,
    MatcherError,
    testing,
)


def rows_after(
    one: GrammarMatcher, children: Any, siblings: Any, tokens: Any, *arguments: Any, **options: Any
) -> list[int]:
    """The rows of one tree; the row behind them must stay untouched."""
    bitmask = np.full((len(tokens) + 1, 1), UNTOUCHED, dtype=np.int32)
    arrays = (array(values) for values in (children, siblings, tokens))
    assert one.traverse_draft_tree(*arrays, bitmask, *arguments, **options) is True
    assert bitmask[-1, 0] == UNTOUCHED
    return list(bitmask[:-1, 0].tolist())


def test_a_chain():
    one = matcher()
    assert rows_after(one, *CHAIN, [C, 0, 1]) == [A | AB, A | B | AB | C, A | B | AB | C]
    assert mask(one) == A | AB
    with pytest.raises(MatcherError):
        one.rollback(1)


def test_the_root_is_where_the_matcher_is():
    """Its token was accepted before, whatever the array says."""
    one = matcher("abc")
    assert one.accept_token(0)
    assert rows_after(one, *CHAIN, [99, 1, 3]) == [B, C, END]


def test_children_and_siblings():
    #   0 -> 1 (a) -> 3 (b)
    #     -> 2 (ab) -> 4 (c) -> 5 (stop)
    children, siblings = [1, 3, 4, -1, 5, -1], [-1, 2, -1, -1, -1, -1]
    everything = A | B | AB | C
    rows = rows_after(matcher(), children, siblings, [0, 0, 2, 1, 3, STOP])
    assert rows == [A | AB, everything, everything, everything, END, 0]


@pytest.mark.parametrize("refused", [1, 3, STOP, 5, -1, 2**31, 2**63 - 1, -(2**63)])
def test_rows_behind_a_refused_token_are_zero(refused):
    assert rows_after(matcher(), *CHAIN, [0, refused, 0]) == [A | AB, 0, 0]
    # A sibling of it goes on.
    assert rows_after(matcher(), [1, -1, -1], [-1, 2, -1], [0, refused, 0])[2] == A | B | AB | C


def test_rows_after_a_stop_token_are_zero():
    one = matcher("a?")
    assert rows_after(one, *CHAIN, [0, STOP, 0]) == [A | END, 0, 0]
    assert not one.is_terminated()


def test_a_text_that_can_only_end():
    one = matcher("ab", terminate_without_stop_token=True)
    assert rows_after(one, *CHAIN, [0, 2, 0]) == [A | AB, 0, 0]


def test_rows_that_the_root_does_not_lead_to_are_zero():
    assert rows_after(matcher(), [1, -1, 3, -1], [-1, -1, -1, -1], [0] * 4)[2:] == [0, 0]
    # The siblings of the root among them.
    assert rows_after(matcher(), [2, -1, -1], [1, -1, -1], [0, 0, 0]) == [A | AB, 0, 15]
    assert rows_after(matcher(), *CHAIN, [0, 0, 0], root_position=1) == [0, A | AB, 15]


def test_a_long_chain():
    n = 5000
    children = [*range(1, n), -1]
    rows = rows_after(matcher(), children, [-1] * n, [0] * n)
    assert rows == [A | AB, *[A | B | AB | C] * (n - 1)]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("tokens_dtype", ["uint8", "uint16", "uint32", "uint64", "int32"])
def test_integers_of_any_size(dtype, tokens_dtype):
    bitmask = np.zeros((3, 1), dtype=np.int32)
    links = (array(values, dtype) for values in CHAIN)
    assert matcher("abc").traverse_draft_tree(*links, array([9, 0, 1], tokens_dtype), bitmask)
    assert bitmask[:, 0].tolist() == [A | AB, B, C]
    if tokens_dtype == "uint64":
        links = (array(values, dtype) for values in CHAIN)
        tokens = array([9, 2**64 - 1, 1], tokens_dtype)
        assert matcher("abc").traverse_draft_tree(*links, tokens, bitmask)
        assert bitmask[:, 0].tolist() == [A | AB, 0, 0]


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    bitmask = torch.full((6, 1), UNTOUCHED, dtype=torch.int32)
    links = [torch.tensor(values) for values in CHAIN]
    assert matcher("abc").traverse_draft_tree(*links, torch.tensor([9, 0, 1]), bitmask[::2])
    assert bitmask[::2, 0].tolist() == [A | AB, B, C]
    assert bitmask[1::2, 0].tolist() == [UNTOUCHED] * 3


def test_a_tensor_of_another_device():
    torch = pytest.importorskip("torch")
    bitmask = np.full((3, 1), UNTOUCHED, dtype=np.int32)
    arrays = [array(values) for values in (*CHAIN, [0, 0, 0])]
    arrays[2] = torch.zeros(3, dtype=torch.int64, device="meta")
    with pytest.raises(BitmaskError, match=r"draft_tokens is a .* device meta; ") as caught:
        matcher().traverse_draft_tree(*arrays, bitmask)
    assert caught.value.code == "bitmask-device"
    assert (bitmask == UNTOUCHED).all()


def test_the_helper_in_testing():
    one = matcher("abc")
    bitmask = np.zeros((3, 1), dtype=np.int32)
    arrays = (array(values) for values in (*CHAIN, [9, 0, 1]))
    assert testing._traverse_draft_tree(*arrays, one, bitmask, time_threshold=100.0) is True
    assert bitmask[:, 0].tolist() == [A | AB, B, C]


def test_temperatures():
    temperatures = np.full(6, 9, dtype=np.float32)
    one = matcher("ab?", default_temperature=0.25)
    children, siblings = [1, 3, -1, -1, -1], [-1, 2, -1, -1, -1]
    rows = rows_after(one, children, siblings, [0, 0, 1, STOP, 0], -1.0, temperatures)
    assert rows == [A | AB, B | END, 0, 0, 0]
    assert temperatures.tolist() == [0.25, 0.25, -1, -1, -1, 9]
    rows_after(matcher(), *CHAIN, [0, 0, 0], temperatures=temperatures)
    assert temperatures.tolist() == [-1, -1, -1, -1, -1, 9]


def test_the_time_runs_out():
    one = matcher()
    bitmask = np.full((4, 1), UNTOUCHED, dtype=np.int32)
    temperatures = np.full(3, 9, dtype=np.float32)
    arrays = [array(values) for values in (*CHAIN, [0, 0, 0])]
    assert one.traverse_draft_tree(*arrays, bitmask, 1e-12, temperatures) is False
    assert bitmask[:, 0].tolist() == [A | AB, 0, 0, UNTOUCHED]
    assert temperatures.tolist() == [-1, -1, -1]
    assert mask(one) == A | AB
    for unlimited in (-1, 0, 1e9, float("inf"), float("nan")):
        assert one.traverse_draft_tree(*arrays, bitmask, time_threshold=unlimited) is True


# Refusals -----------------------------------------------------------------------------------------

ON_CPU = r", strides \(1,\), on cpu; expected "
#: Name -> change to the arguments of one matcher, class, code, the whole text.
SCALAR: dict[str, tuple[Callable[[Arrays], None], type[MaskwrightError], str, str]] = {
    "a child outside": (
        changed(retrieve_next_token=array([1, 3, -1])),
        *(DraftTreeError, "draft-tree-link"),
        r"retrieve_next_token of node 1 is 3; expected a node from 0 to 2, or -1 for none",
    ),
    "a child below -1": (
        changed(retrieve_next_token=array([1, -2, -1])),
        *(DraftTreeError, "draft-tree-link"),
        r"retrieve_next_token of node 1 is -2; expected a node from 0 to 2, or -1 for none",
    ),
    "a sibling that is 0 in 32 bits": (
        changed(retrieve_next_sibling=array([-1, 2**32, -1])),
        *(DraftTreeError, "draft-tree-link"),
        (
            r"retrieve_next_sibling of node 1 is 4294967296; expected a node from 0 "
            r"to 2, or -1 for none"
        ),
    ),
    "a loop": (
        changed(retrieve_next_token=array([1, 2, 1])),
        *(DraftTreeError, "draft-tree-loop"),
        r"the links lead from node [12] back to itself; a tree has one way to each of its nodes",
    ),
    "a loop that the root does not lead to": (
        changed(retrieve_next_token=array([-1, 1, -1])),
        *(DraftTreeError, "draft-tree-loop"),
        r"the links lead from node 1 back to itself; a tree has one way to each of its nodes",
    ),
    "two ways to a node": (
        changed(retrieve_next_sibling=array([-1, 2, -1])),
        *(DraftTreeError, "draft-tree-shared-node"),
        r"two links lead to node 2 below the root; a tree has one way to each of its nodes",
    ),
    "a root outside": (
        changed(root_position=3),
        *(DraftTreeError, "draft-tree-root"),
        r"the root position is 3; expected a node from 0 to 2",
    ),
    "a negative root": (
        changed(root_position=-1),
        *(DraftTreeError, "draft-tree-root"),
        r"the root position is -1; expected a node from 0 to 2",
    ),
    "a root that is 0 in 32 bits": (
        changed(root_position=2**32),
        *(DraftTreeError, "draft-tree-root"),
        r"the root position is 4294967296; expected a node from 0 to 2",
    ),
    "a root that is 0 in 64 bits": (
        changed(root_position=2**64),
        *(DraftTreeError, "draft-tree-root"),
        r"the root position is \d+; expected a node from 0 to 2",
    ),
    "no nodes": (
        changed(
            retrieve_next_token=array([]),
            retrieve_next_sibling=array([]),
            draft_tokens=array([]),
        ),
        *(DraftTreeError, "draft-tree-root"),
        r"the root position is 0; the tree has no nodes",
    ),
    "fewer tokens": (
        changed(draft_tokens=array([0, 0])),
        *(DraftTreeError, "draft-tree-sizes"),
        r"retrieve_next_token is an int64 array of shape \(3,\)" + ON_CPU + r"2 nodes, as many as "
        r"draft_tokens has",
    ),
    "fewer siblings": (
        changed(retrieve_next_sibling=array([-1])),
        *(DraftTreeError, "draft-tree-sizes"),
        r"retrieve_next_sibling is an int64 array of shape \(1,\)" + ON_CPU + r"3 nodes, as many "
        r"as draft_tokens has",
    ),
    "links of another dtype": (
        changed(retrieve_next_token=array([1, 2, -1], np.float32)),
        *(DraftTreeError, "draft-tree-dtype"),
        r"retrieve_next_token is a float32 array of shape \(3,\)" + ON_CPU + r"integers of 8 to 64 "
        r"bits",
    ),
    "tokens of another dtype": (
        changed(draft_tokens=array([True, False, True], np.bool_)),
        *(DraftTreeError, "draft-tree-dtype"),
        r"draft_tokens is a bool array of shape \(3,\)" + ON_CPU + r"integers of 8 to 64 bits",
    ),
    "tokens of two dimensions": (
        changed(draft_tokens=array([[0, 0, 0]])),
        *(DraftTreeError, "draft-tree-shape"),
        (
            r"draft_tokens is an int64 array of shape \(1, 3\), strides \(3, 1\), "
            r"on cpu; expected one "
            r"dimension, the nodes"
        ),
    ),
    "links of three dimensions": (
        changed(retrieve_next_token=array([[[1, 2, -1]]])),
        *(DraftTreeError, "draft-tree-shape"),
        (
            r"retrieve_next_token is an int64 array of shape \(1, 1, 3\), .*; expected one or two "
            r"dimensions"
        ),
    ),
    "links with gaps": (
        changed(retrieve_next_token=array([1, 0, 2, 0, -1, 0])[::2]),
        *(DraftTreeError, "draft-tree-strides"),
        (
            r"retrieve_next_token is an int64 array of shape \(3,\), strides "
            r"\(2,\), on cpu; expected "
            r"a contiguous array"
        ),
    ),
    "tokens backwards": (
        changed(draft_tokens=array([0, 0, 0])[::-1]),
        *(DraftTreeError, "draft-tree-strides"),
        (
            r"draft_tokens is an int64 array of shape \(3,\), strides \(-1,\), on cpu; expected a "
            r"contiguous array"
        ),
    ),
    "a list": (
        changed(draft_tokens=[0, 0, 0]),
        *(BitmaskError, "bitmask-not-an-array"),
        r"draft_tokens is a .*list.*; expected an array on the CPU .*",
    ),
    "too few rows": (
        changed(token_bitmask=np.full((2, 1), UNTOUCHED, dtype=np.int32)),
        *(BitmaskError, "bitmask-rows"),
        (
            r"bitmask is an int32 array of shape \(2, 1\), strides \(1, 1\), on "
            r"cpu; expected 3 rows "
            r"or more: one for each node"
        ),
    ),
    "a bitmask of another dtype": (
        changed(token_bitmask=np.full((3, 1), UNTOUCHED, dtype=np.int64)),
        *(BitmaskError, "bitmask-dtype"),
        r"bitmask is an int64 array of shape \(3, 1\), strides \(1, 1\), on cpu; expected int32",
    ),
    "too few temperatures": (
        changed(temperatures=np.zeros(2, dtype=np.float32)),
        *(BitmaskError, "temperatures-shape"),
        r"temperatures is a float32 array of shape \(2,\)" + ON_CPU + r"1-D with at least 3 "
        r"elements",
    ),
}


@pytest.mark.parametrize("name", SCALAR)
def test_what_is_refused_has_changed_nothing(name):
    change, kind, code, text = SCALAR[name]
    one = matcher()
    assert one.accept_token(0)
    names = ("retrieve_next_token", "retrieve_next_sibling", "draft_tokens")
    arrays: Arrays = dict(zip(names, map(array, (*CHAIN, [0, 0, 0])), strict=True))
    arrays["token_bitmask"] = np.full((3, 1), UNTOUCHED, dtype=np.int32)
    arrays["temperatures"] = np.full(3, 9, dtype=np.float32)
    bitmask, temperatures = arrays["token_bitmask"], arrays["temperatures"]
    change(arrays)
    with pytest.raises(kind) as caught:
        one.traverse_draft_tree(**arrays)
    assert type(caught.value) is kind
    assert caught.value.code == code
    assert re.fullmatch(text, str(caught.value), re.DOTALL), str(caught.value)
    assert (arrays["token_bitmask"] == UNTOUCHED).all()
    assert (bitmask == UNTOUCHED).all()
    assert (temperatures == 9).all()
    assert mask(one) == FREE
    one.rollback(1)


def test_a_terminated_matcher():
    one = matcher("a?")
    assert one.accept_token(STOP)
    bitmask = np.full((3, 1), UNTOUCHED, dtype=np.int32)
    arrays = [array(values) for values in (*CHAIN, [0, 0, 0])]
    with pytest.raises(MatcherError, match="no token can follow") as caught:
        one.traverse_draft_tree(*arrays, bitmask)
    assert caught.value.code == "matcher-terminated"
    assert (bitmask == UNTOUCHED).all()
