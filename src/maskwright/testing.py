"""Helpers for tests and for looking at masks. Names with an underscore may change.

Where no vocabulary is given, tokens are the 256 single bytes, and id 256 is the stop token.
"""

from __future__ import annotations

import operator
import sys
from time import perf_counter
from typing import TYPE_CHECKING, Any

from . import _core
from .compiler import GrammarCompiler
from .grammar import Grammar
from .matcher import GrammarMatcher
from .mismatch import byte_tokenizer_info
from .range_regex import float_range_regex, integer_range_regex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .tokenizer_info import TokenizerInfo

__all__ = ["bitmask_to_bool_mask", "bool_mask_to_bitmask", "byte_tokenizer_info"]


def _get_matcher_from_grammar(grammar: Grammar | str, **options: Any) -> GrammarMatcher:
    """Return a matcher over single bytes.

    Args:
        grammar: A grammar, or EBNF text.
        **options: Of `GrammarMatcher`.

    Raises:
        MaskwrightError: What compiling raises.
    """
    return _get_matcher_from_grammar_and_tokenizer_info(grammar, byte_tokenizer_info(), **options)


def _get_matcher_from_grammar_and_tokenizer_info(
    grammar: Grammar | str, tokenizer_info: TokenizerInfo, **options: Any
) -> GrammarMatcher:
    """Return a matcher over a vocabulary.

    Args:
        grammar: A grammar, or EBNF text.
        tokenizer_info: The vocabulary.
        **options: Of `GrammarMatcher`.

    Raises:
        MaskwrightError: What compiling raises.
    """
    compiler = GrammarCompiler(tokenizer_info, cache_enabled=False)
    return GrammarMatcher(compiler.compile_grammar(grammar), **options)


def _is_grammar_accept_string(
    grammar: Grammar | str,
    input_str: str | bytes,
    *,
    debug_print: bool = False,
    print_time: bool = False,
    require_termination: bool = True,
) -> bool:
    """Return whether a text is in the grammar.

    Args:
        grammar: A grammar, or EBNF text.
        input_str: The text.
        debug_print: Log the result of each step.
        print_time: Print to standard output how long it took.
        require_termination: The text must be whole; else it may also be the start of one.

    Raises:
        MaskwrightError: What compiling raises.

    Example:
        >>> _is_grammar_accept_string('root ::= "ab"', "ab")
        True
        >>> _is_grammar_accept_string('root ::= "ab"', "a")
        False
        >>> _is_grammar_accept_string('root ::= "ab"', "a", require_termination=False)
        True
    """
    matcher = _get_matcher_from_grammar(grammar, terminate_without_stop_token=True)
    start = perf_counter()
    accepted = matcher.accept_string(input_str, debug_print=debug_print)
    if print_time:
        sys.stdout.write(f"accept_string took {(perf_counter() - start) * 1e6:.1f} us\n")
    return accepted and (not require_termination or matcher.is_completed())


def _get_masked_tokens_from_bitmask(bitmask: Any, vocab_size: int, index: int = 0) -> list[int]:
    """Return the ids that a row of a bitmask refuses, ascending.

    Args:
        bitmask: int32 array of shape (rows, words) or (words,), on the CPU.
        vocab_size: Number of token ids.
        index: The row.

    Raises:
        BitmaskError: The bitmask is no such array.
        ValueError: The row has fewer than ``vocab_size`` bits.
        IndexError: There is no such row.

    Example:
        >>> import numpy as np
        >>> _get_masked_tokens_from_bitmask(np.array([[0b1011]], dtype=np.int32), 5)
        [2, 4]
    """
    refused = ~_row(bitmask, vocab_size, index)
    return [int(token) for token in refused.nonzero()[0]]


def _is_single_token_bitmask(bitmask: Any, vocab_size: int, index: int = 0) -> tuple[bool, int]:
    """Return whether a row allows exactly one token, and its id (else -1).

    Args:
        bitmask: int32 array of shape (rows, words) or (words,), on the CPU.
        vocab_size: Number of token ids.
        index: The row.

    Raises:
        BitmaskError: The bitmask is no such array.
        ValueError: The row has fewer than ``vocab_size`` bits.
        IndexError: There is no such row.

    Example:
        >>> import numpy as np
        >>> _is_single_token_bitmask(np.array([[0b100]], dtype=np.int32), 5)
        (True, 2)
    """
    allowed = _row(bitmask, vocab_size, index).nonzero()[0]
    return (True, int(allowed[0])) if len(allowed) == 1 else (False, -1)


def _traverse_draft_tree(
    retrieve_next_token: Any,
    retrieve_next_sibling: Any,
    draft_tokens: Any,
    matcher: GrammarMatcher,
    allocate_token_bitmask: Any,
    time_threshold: float = -1.0,
) -> bool:
    """Call `GrammarMatcher.traverse_draft_tree`; the bitmask is ``allocate_token_bitmask``."""
    return matcher.traverse_draft_tree(
        retrieve_next_token,
        retrieve_next_sibling,
        draft_tokens,
        allocate_token_bitmask,
        time_threshold,
    )


def bool_mask_to_bitmask(bool_mask: Any) -> Any:
    """Return the bitmask of a Boolean mask.

    Args:
        bool_mask: bool array of shape (rows, vocab_size) or (vocab_size,), on the CPU.

    Returns:
        New int32 array of shape (rows, ceil(vocab_size / 32)), of torch if the mask is; bits beyond
        the vocabulary are 0.

    Raises:
        BitmaskError: The mask is no such array.

    Example:
        >>> import numpy as np
        >>> bool_mask_to_bitmask(np.array([[True, False, True]])).tolist()
        [[5]]
    """
    import numpy as np

    rows, size, data = _core.copy_rows(bool_mask, "bool_mask", "bool")
    padded = np.zeros((rows, (size + 31) // 32 * 32), dtype=bool)
    padded[:, :size] = np.frombuffer(data, dtype=bool).reshape(rows, size)
    packed = np.packbits(padded, axis=1, bitorder="little").view("<i4").astype(np.int32)
    return _like(bool_mask, packed)


def bitmask_to_bool_mask(bitmask: Any, vocab_size: int | None = None) -> Any:
    """Return the Boolean mask of a bitmask.

    Args:
        bitmask: int32 array of shape (rows, words) or (words,), on the CPU.
        vocab_size: Number of token ids; None: 32 per word.

    Returns:
        New bool array of shape (rows, vocab_size), of torch if the bitmask is.

    Raises:
        BitmaskError: The bitmask is no such array.
        ValueError: The bitmask has fewer than ``vocab_size`` bits in a row.

    Example:
        >>> import numpy as np
        >>> bitmask_to_bool_mask(np.array([[5]], dtype=np.int32), 4).tolist()
        [[True, False, True, False]]
    """
    return _like(bitmask, _bits(bitmask, vocab_size))


def _row(bitmask: Any, vocab_size: int, index: int) -> NDArray[np.bool_]:
    rows, at = _bits(bitmask, vocab_size), operator.index(index)
    if not 0 <= at < len(rows):
        raise IndexError(f"row {at} does not exist: the bitmask has {len(rows)} rows")
    row: NDArray[np.bool_] = rows[at]
    return row


def _bits(bitmask: Any, vocab_size: int | None) -> NDArray[np.bool_]:
    import numpy as np

    rows, words, data = _core.copy_rows(bitmask, "bitmask", "int32")
    available = words * 32
    size = available if vocab_size is None else operator.index(vocab_size)
    if not 0 <= size <= available:
        raise ValueError(f"vocab_size is {size}; the bitmask has {available} bits in each row")
    octets = np.frombuffer(data, dtype=np.int32).astype("<i4").view(np.uint8)
    bits = np.unpackbits(octets.reshape(rows, words * 4), axis=1, bitorder="little")
    return bits[:, :size].astype(bool)


def _like(model: Any, array: Any) -> Any:
    """Return the array as what `model` is: a torch tensor or a numpy array."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(model, torch.Tensor):
        return torch.from_numpy(array)
    return array


def _json_schema_to_ebnf(schema: Any, **options: Any) -> str:
    """Return the EBNF text of a schema; options as for `Grammar.from_json_schema`."""
    return str(Grammar.from_json_schema(schema, **options))


def _regex_to_ebnf(regex: str) -> str:
    """Return the EBNF text of a regular expression.

    Example:
        >>> print(_regex_to_ebnf("[ab]+"), end="")
        root ::= [ab]+
    """
    return str(Grammar.from_regex(regex))


def _generate_range_regex(start: int | None = None, end: int | None = None) -> str:
    """Return an anchored regular expression for the integers of a range, written as `str` does.

    Args:
        start: The least of them; None for no bound.
        end: The greatest of them; None for no bound.

    Raises:
        ValueError: The range is empty.

    Example:
        >>> _generate_range_regex(8, 12)
        '^(?:[8-9]|1[0-2])$'
    """
    return integer_range_regex(start, end)


def _generate_float_regex(start: float | None = None, end: float | None = None) -> str:
    r"""Return an anchored regular expression for the decimals of a range.

    A decimal is an optional minus, an integer without leading zeros, and optionally a point with
    digits, as many as one likes; it has no exponent. Its value decides, so ``-0.0`` counts as 0.

    Args:
        start: The lower bound; None for no bound.
        end: The upper bound; None for no bound.

    Raises:
        ValueError: The range is empty, or a bound is no finite number.

    Example:
        >>> _generate_float_regex(1, 1.5)
        '^1(?:\\.(?:[0-4][0-9]*|50*))?$'
    """
    return float_range_regex(start, end)
