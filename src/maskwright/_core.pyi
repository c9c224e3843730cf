"""
The compiled engine of maskwright. Private: use the names of the package maskwright.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload


def engine_version() -> str:
    """Return the release of the compiled engine, for example ``0.1.0``."""

IR_VERSION: int = 2

class IrFragment:
    """
    Expressions that many grammars hold, read once and copied into builders.
    """

    def __init__(self, ir: bytes) -> None:
        """
        Read the expressions of an IR buffer; its root rule stands for all of them.

        Raises:
            ValueError: It holds rules, tokens or schemas.
        """

class IrBuilder:
    """Writes an IR buffer; maskwright.ir.Builder completes it."""

    def __init__(self) -> None: ...

    def json(self, node: int, *, any_order: bool = False, any_whitespace: bool = True, strict: bool = True, number_spelling: str = 'any', max_whitespace: int | None = None, item_separator: bytes = b',', key_separator: bytes = b':') -> int:
        """
        A JSON value that is valid under the schema node.

        Args:
            node: Id of the root schema node.
            any_order: Members may come in any order; else declared ones first, in order.
            any_whitespace: Free whitespace between JSON's own tokens, never around the root.
            strict: Undeclared members, and items after a prefix, are refused where no schema that applies
                says otherwise.
            number_spelling: ``"any"``: as JSON has it; ``"decimal"``: without exponent, and without a
                fraction where all numbers are integers by their type or list; ``"plain"``: each number in
                one way, without exponent, zeros at the end of a fraction, or -0.
            max_whitespace: With ``any_whitespace``: bytes at one place at most; None: no bound.
            item_separator: Without ``any_whitespace``: what stands between items and members.
            key_separator: Without ``any_whitespace``: what stands between a key and its value.
        """

    def any(self) -> int:
        """Any value."""

    def never(self) -> int:
        """No value."""

    def types(self, mask: int) -> int:
        """
        Any value of the types in the mask (``TYPE_*`` of ``maskwright.ir.format``).
        """

    def all_of(self, ids: Iterable[int]) -> int:
        """Values that all nodes accept; of none, any value; of one, that node."""

    def any_of(self, ids: Iterable[int]) -> int:
        """Values that some node accepts; of none, no value; of one, that node."""

    def one_of(self, ids: Iterable[int]) -> int:
        """
        Values that exactly one node accepts; of none, no value; of one, that node.
        """

    def array(self, prefix: Iterable[int], rest: int | None) -> int:
        """
        Arrays: a schema per leading item, and one for the rest (None: ``items`` absent).
        """

    def object(self, members: Mapping[str, int] | Iterable[tuple[str, int]], additional: int | None, patterns: Iterable[tuple[int, int]] = ()) -> int:
        """
        Objects: a schema per named member, in order, per key pattern, and for all the others.

        Args:
            members: Decoded key and node of each named member, a dict or pairs; keys are unique.
            additional: Node of the members that no name and no pattern matches; None:
                ``additionalProperties`` absent.
            patterns: Regular expression (an expression id that matches whole decoded keys) and node of
                each key pattern. A member is judged by its name and all its patterns.
        """

    def required(self, keys: Iterable[str]) -> int:
        """Objects must have each of the keys; duplicates are dropped."""

    def reserve(self) -> int:
        """
        Return a node id that may be used at once and is given its meaning later.
        """

    def define_node(self, node: int, target: int) -> None:
        """Make a reserved node an alias of ``target``, once."""

    def rule(self, name: str) -> int:
        """
        Declare a rule and return its id; ``define`` gives it its expression.

        Raises:
            ValueError: The name is empty or taken.
        """

    def define(self, rule: int, expr: int) -> None:
        """Give a declared rule its expression, once."""

    def finish(self, root: int) -> bytes:
        """
        Return the buffer, with rule ``root`` as the start symbol.

        Raises:
            ValueError: A rule or a reserved node is undefined.
        """

    def copy(self, fragment: IrFragment) -> int:
        """
        Add the expressions of a fragment, and return the one that stands for all of them.
        """

    def add_expr(self, record: Iterable[int]) -> int: ...

    def share_expr(self, record: Iterable[int]) -> int: ...

    def add_node(self, record: Iterable[int]) -> int: ...

    def share_node(self, record: Iterable[int]) -> int: ...

    def enum_node(self, literals: int, numbers: Iterable[str], strings: Iterable[str], nodes: Iterable[int]) -> int: ...

    def counted_texts(self, texts: Iterable[str]) -> list[int]:
        """Count and references of texts; each one counts once."""

    def text_ref(self, text: str) -> tuple[int, int]: ...

    def bytes_ref(self, data: bytes) -> tuple[int, int]: ...

    def check_exprs(self, ids: Iterable[int]) -> None: ...

    def check_nodes(self, ids: Iterable[int]) -> None: ...

    def check_rule(self, rule: int) -> None: ...

class KeywordTable:
    """The keywords of a dialect of JSON Schema."""

    def __init__(self, handlers: dict[str, Any], plain: dict[Any, str], declaring: frozenset[Any], id_keyword: str, ref_alone: bool) -> None: ...

class SchemaWalk:
    """The walk over a JSON Schema; its Python subclass is the conversion."""

    def __init__(self, builder: object, strict: bool, any_order: bool, max_constant_values: int, is_observed: bool) -> None: ...

    def walk(self, schema: object, location: object | None, resource: object) -> None:
        """Convert a document; `root_node` is the node of its root then."""

    def node(self, value: object | None, keyword: object, token: object | None = None) -> int:
        """Return the node of a schema below the one at hand."""

    def nodes_of(self, values: object, keyword: object) -> list[int]:
        """Return the nodes of schemas in an array below the one at hand."""

    def named_nodes(self, schemas: dict[str, Any], keyword: str) -> dict[str, int]:
        """Return the nodes of schemas by name below the one at hand."""

    def target_node(self, schema: object, location: object | None, resource: object) -> int:
        """
        Return the node of a schema in a resource; a reserved one while it is converted.
        """

    def add(self, node: int) -> None:
        """Add a node to the conjunction that the schema at hand becomes."""

    def ignore(self, keyword: object) -> None:
        """Note that a keyword of the schema at hand has no effect."""

    def note_in_place(self, schemas: object, resource: object | None = None) -> None:
        """
        Note that schemas, of ``resource``, judge the same instance as the schema at hand.
        """

    @property
    def schema(self) -> dict[str, Any]:
        """The schema at hand."""

    @property
    def location(self) -> Any:
        """Where it stands."""

    @property
    def resource(self) -> Any:
        """The resource that it belongs to."""

    @property
    def root_node(self) -> int:
        """The node of the whole schema."""

    @property
    def is_cyclic(self) -> bool:
        """Whether schemas may refer back to themselves."""

    def plain_facts(self) -> set[str]:
        """Names of what the walk met by itself."""

    def is_known(self, schema: object, resource: object) -> bool:
        """Return whether a schema was converted in a resource."""

    def in_place(self) -> list[tuple[Any, ...]]:
        """Return what was noted by `note_in_place`."""

    def pointers_of_ignored(self, max_bytes: int) -> tuple[str, ...] | None:
        """
        Return the pointers of keywords without effect; None: they are longer together.
        """

def read_json(text: str) -> Any:
    """
    Return the value of a JSON text; numbers with a fraction or exponent become ``Decimal``.

    Raises:
        ValueError: The text is no JSON, or an object in it has a duplicate key.
        ArithmeticError: A number has an exponent that ``Decimal`` can't hold.
    """

class Vocabulary:
    """
    Token bytes as a trie; see maskwright.TokenizerInfo for the public form.
    """

    def __init__(self, tokens: list[bytes], *, vocab_size: int, special_token_ids: Sequence[int], stop_token_ids: Sequence[int]) -> None: ...

    @property
    def vocab_size(self) -> int: ...

    @property
    def num_trie_nodes(self) -> int: ...

    @property
    def max_token_length(self) -> int: ...

    @property
    def memory_bytes(self) -> int: ...

class MaskTable:
    """
    The distinct masks of a compiler's grammars, each once, by number.

    An engine can keep them on its device and send a number for each row instead of the mask:
    `GrammarMatcher.next_mask_id` gives the number, and rows that are new here are fetched once with
    `get_masks`. Ids are 0, 1, 2, ... and mean the same mask for good. Safe to use from several threads.

    The table is full at ``limit_bytes``; masks that are not in it by then have no id.
    """

    def __init__(self, mask_words: int, limit_bytes: int = 67108864) -> None: ...

    def __len__(self) -> int: ...

    @property
    def shape(self) -> tuple[int, int]:
        """Masks so far, and words of each."""

    @property
    def memory_size_bytes(self) -> int:
        """At most `limit_bytes`."""

    @property
    def limit_bytes(self) -> int:
        """What the masks may take."""

    def get_masks(self, ids: Iterable[int], out: Any) -> None:
        """
        Write masks into the first rows of an array.

        Args:
            ids: Ids below ``len(table)``; as many rows are written, in this order.
            out: int32 array on the CPU, of shape (rows, words), with at least as many rows as ids and
                ``shape[1]`` words; contiguous within a row, and the rows do not overlap. Words behind a
                mask are set to 0.

        Raises:
            BitmaskError: There is no such id (``bitmask-mask-id``), or the array does not fit
                (``bitmask-dtype``, ``bitmask-shape``, ``bitmask-strides``, ``bitmask-not-an-array``);
                nothing was written.
            TypeError: An id is no integer.
        """

class ByteLedger:
    """
    Memory of what is charged to it: compiled grammars, or masks that they share.
    """

    def __init__(self) -> None: ...

    @property
    def bytes(self) -> int: ...

    def set_limit(self, bytes: int) -> None:
        """What grammars may take that drop their masks rather than take more."""

class SharedMasks:
    """Masks that the grammars of a vocabulary share, up to a limit."""

    def __init__(self, vocabulary: Vocabulary, limit_bytes: int = -1, ledger: ByteLedger | None = None, below: SharedMasks | None = None) -> None:
        """What the store below has is taken from there; it is frozen by this."""

    def freeze(self) -> None:
        """It takes nothing more from now on."""

    @property
    def bytes(self) -> int: ...

    def counters(self) -> dict[str, int]:
        """entries, bytes, hits, misses and evictions."""

class CompiledGrammar:
    """A grammar compiled for one vocabulary; immutable, shared by matchers."""

    @property
    def memory_bytes(self) -> int:
        """As of the last call that computed something; waits for nothing."""

    @property
    def around_bytes(self) -> int:
        """The part of it that its owner gave."""

    @around_bytes.setter
    def around_bytes(self, arg: int, /) -> None: ...

    @property
    def may_need_search(self) -> bool:
        """
        A text may get to where the vocabulary can't spell what follows, so that masks take a search.
        """

    def limits(self) -> dict[str, int]:
        """What it was compiled under, as the arguments of compile()."""

    def charge_to(self, ledger: ByteLedger | None) -> None:
        """Have the ledger count this grammar from now on; None: nobody."""

    @property
    def mask_table(self) -> MaskTable:
        """The ids of its masks."""

    def use_mask_table(self, table: MaskTable) -> None:
        """
        Take ids from a table of the same vocabulary, before any was asked for.
        """

    def bound_budget_work(self, max_work: int) -> None:
        """For tests: the work that a mask under a budget may take at most."""

    def counters(self) -> dict[str, int]:
        """
        Counts of what was built so far: frames, states, rows, positions, searched_places, budget_searches, budget_walks, budget_work, mask_drops, masks, shared_masks, mask_bytes, cold_walks, visited_nodes, read_masks.
        """

class StopFlag:
    """Stops compile() in another thread, which raises CancelledError then."""

    def __init__(self) -> None: ...

    def set(self) -> None: ...

    @property
    def is_set(self) -> bool: ...

class Precompute:
    """Computes masks of a grammar that no matcher asked for."""

    def __init__(self, compiled: CompiledGrammar) -> None: ...

    def run(self, seconds: float, max_bytes: int) -> bool:
        """
        Work for so many seconds of processor time, or until the grammar takes max_bytes; False: nothing is left to do. Releases the GIL.
        """

    @property
    def num_places(self) -> int: ...

def compile(ir: bytes, vocabulary: Vocabulary, *, max_states: int = 1000000, max_targets: int = 200000, max_clauses: int = 10000, max_lang_states: int = 50000, around_bytes: int = 0, token_classes: bool = True, clipping: bool = True, sharing: bool = True, shared_masks: SharedMasks | None = None, stop: StopFlag | None = None) -> CompiledGrammar:
    """
    Compile an IR buffer for a vocabulary. Releases the GIL. around_bytes are counted as the grammar's: what its owner needs for it. The four from token_classes to shared_masks are shortcuts that change no answer. A stop flag that is set, before or meanwhile, ends it with CancelledError.
    """

STORED_VERSION: int = 1

def store(compiled: CompiledGrammar, *, ir: bytes, fingerprint: bytes, exact: bool, narrowed: tuple[str, ...], loosened: tuple[tuple[str, ...], ...], ignored: tuple[str, ...], include_masks: bool = False) -> bytes:
    """
    Return the stored form of a compiled grammar, with what it was compiled from. Releases the GIL.
    """

def load(stored: bytes, vocabulary: Vocabulary, *, fingerprint: bytes, max_states: int = 1000000, max_targets: int = 200000, max_clauses: int = 10000, max_lang_states: int = 50000, shared_masks: SharedMasks | None = None, trust_masks: bool = False) -> tuple[CompiledGrammar, bytes, bool, tuple[str, ...], tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """
    Load a stored form: (grammar, ir, exact, narrowed, loosened, ignored). Releases the GIL.
    """

def check_ir(ir: bytes) -> None:
    """Raise MalformedIRError if the bytes are no IR buffer."""

class Matcher:
    """Follows tokens; see maskwright.GrammarMatcher."""

    def __init__(self, compiled: CompiledGrammar, *, stop_token_ids: Sequence[int] | None = None, terminate_without_stop_token: bool = False, token_budget: int | None = None) -> None: ...

    def accept_token(self, token: object) -> bool: ...

    def accept_bytes(self, text: bytes) -> bool: ...

    def validate_tokens(self, tokens: Iterable[int]) -> int: ...

    def fill_bitmask(self, bitmask: object | None, index: object | None = 0) -> bool: ...

    def mask_id(self) -> int: ...

    @property
    def mask_table(self) -> MaskTable: ...

    def rollback(self, steps: object | None = 1) -> None: ...

    def reset(self) -> None: ...

    def fork(self) -> Matcher: ...

    def is_terminated(self) -> bool: ...

    def is_completed(self) -> bool: ...

    def forced_bytes(self, limit: int) -> bytes:
        """The bytes that every completion goes on with. Releases the GIL."""

    def open_tokens(self, ahead: bytes) -> list[int]:
        """
        Offsets in the readable bytes at which a token may begin that goes on beyond them; their number among them if more than a stop token may follow. Releases the GIL.
        """

    def longest_tokens(self, ahead: bytes) -> list[int]:
        """The longest token at each place, as far as there is one."""

    def recent_text(self, max_bytes: int) -> bytes:
        """The last bytes accepted, none from before a token that is no text."""

    @property
    def refused_token(self) -> int | None:
        """The last token if accept_token() refused it, since the last step."""

    def surroundings(self) -> list[str]:
        """
        Names of rules and kinds of JSON values that the text is in, the innermost first.
        """

    def next_bytes(self) -> bytes:
        """The bytes that may come next, ascending, whatever the tokens are."""

    def num_readable(self, text: bytes) -> int:
        """How many bytes of the text may come next, likewise."""

    def may_read_symbol(self) -> bool:
        """A token may come next that is no text."""

    def min_tokens_to_finish(self) -> int:
        """So many tokens complete the text for sure. Releases the GIL."""

    @property
    def remaining_tokens(self) -> int | None:
        """What is left of the budget; None without one."""

    @remaining_tokens.setter
    def remaining_tokens(self, tokens: int | None) -> None: ...

    @property
    def num_steps(self) -> int: ...

    @property
    def memory_bytes(self) -> int:
        """
        Of the steps, stacks and registers that the matcher and its forks hold.
        """

    @property
    def stop_token_ids(self) -> list[int]: ...

class MatcherBase:
    """A matcher's calls in a decode loop."""

    @overload
    def __init__(self, compiled: CompiledGrammar, stop_token_ids: Sequence[int] | None, terminate_without_stop_token: bool, default_temperature: float | None, token_budget: int | None = None) -> None:
        """Starts at the empty text."""

    @overload
    def __init__(self, origin: MatcherBase) -> None:
        """Starts as a fork of the other one."""

    def accept_token(self, token_id: int, *, debug_print: bool = False) -> bool:
        """
        Append a token.

        Args:
            token_id: Any integer, of Python or numpy, of any size; bools are integers.
            debug_print: Log the result.

        Returns:
            True if the mask allows the token. False, with nothing changed, if not: ids outside the
            vocabulary, and everything after a stop token, included.

        Raises:
            TypeError: ``token_id`` is no integer.
        """

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0, *, debug_print: bool = False) -> bool:
        """
        Write which tokens may come next.

        Bit ``t % 32`` of word ``t // 32`` is 1 iff `accept_token` would accept ``t``; bits at and above
        the vocabulary size are 0. Nothing but the row is written. Python's global lock is released while
        a mask is computed that was not needed before.

        Args:
            bitmask: int32 array on the CPU, of shape (rows, words) or (words,), with at least
                ``ceil(vocab_size / 32)`` words, contiguous within a row; numpy, torch, or any object with
                DLPack or a buffer. Written in place.
            index: The row.
            debug_print: Log the result.

        Returns:
            True if some token is refused, so that the mask must be applied.

        Raises:
            MatcherError: The matcher is terminated, so no token can follow (``matcher-terminated``).
            BitmaskError: The array has the wrong dtype, shape or strides, there is no such row, or it is
                not a writable array of the CPU (``bitmask-dtype``, ``bitmask-shape``,
                ``bitmask-strides``, ``bitmask-index``, ``bitmask-device``, ``bitmask-not-an-array``).
        """

    def next_mask_id(self) -> int:
        """
        Return the id of the mask that `fill_next_token_bitmask` would write.

        The row of ``compiled_grammar.mask_table`` with this id is that mask, bit for bit. Equal masks have
        equal ids, whichever grammar of the compiler they are of, and whatever is left of a token budget.
        Costs less than a mask where a text has been at a place like this before; where the mask depends on
        more of the text (near the end of a budget, for unique items, in a vocabulary where not every byte
        is a token) it is made, and looked up by its words. Python's global lock is released where that
        takes longer.

        Returns:
            The id; -1 if the mask has none, since the table is full: use `fill_next_token_bitmask` for this
            step. Masks that depend on more of the text are kept in the first half of the table only.

        Raises:
            MatcherError: The matcher is terminated, so no token can follow (``matcher-terminated``).
        """

    def rollback(self, num_tokens: int = 1) -> None:
        """
        Take back the last steps, a stop token included.

        Args:
            num_tokens: How many.

        Raises:
            MatcherError: There are fewer (``matcher-rollback-too-far``) or the number is negative
                (``matcher-rollback-negative``); nothing changed.
        """

    def is_terminated(self) -> bool:
        """
        Return whether the text has ended.

        It has after a stop token; with ``terminate_without_stop_token``, whenever it is complete.
        """

    def is_completed(self) -> bool:
        """Return whether the text so far is a whole text of the grammar."""

    @property
    def temperature(self) -> float | None:
        """
        The temperature to sample the next token with: the default that was given, or None.
        """

def matcher_of(base: MatcherBase) -> Matcher:
    """The matcher inside, not a fork of it."""

def accept_tokens(matchers: object | None, tokens: object | None) -> list[bool]: ...

def accept_strings(matchers: object | None, strings: object | None) -> list[bool]: ...

def roll_back(matchers: object | None, num_tokens: object | None) -> None: ...

def fill_temperature(matchers: object | None, temperatures: object | None, indices: object | None) -> None: ...

def traverse_draft_tree(matcher: MatcherBase, retrieve_next_token: object | None, retrieve_next_sibling: object | None, draft_tokens: object | None, bitmask: object | None, time_threshold: float, temperatures: object | None, root_position: object | None) -> bool: ...

class Batch:
    """Calls for many matchers; see maskwright.BatchGrammarMatcher."""

    def __init__(self, max_threads: int) -> None: ...

    @property
    def max_threads(self) -> int: ...

    def renew(self) -> None:
        """For a child after fork()."""

    def fill(self, matchers: object | None, bitmask: object | None, indices: object | None) -> None: ...

    def mask_ids(self, matchers: object | None, mask_ids: object | None, indices: object | None, mask_table: MaskTable | None) -> int:
        """
        Write the ids of the matchers' masks in the table; return how many have none.
        """

    def traverse(self, matchers: object | None, retrieve_next_token: object | None, retrieve_next_sibling: object | None, draft_tokens: object | None, bitmask: object | None, indices: object | None, root_positions: object | None) -> list[bool]: ...

def apply_bitmask(logits: object | None, bitmask: object | None, *, vocab_size: object | None = None, indices: Iterable[int] | None = None) -> None:
    """
    Set the logits of masked tokens to -inf, in place, on the CPU. Releases the GIL.
    """

def check_apply(logits: tuple[str, Sequence[int], Sequence[int], str], bitmask: tuple[str, Sequence[int], Sequence[int], str], *, vocab_size: object | None = None, indices: Iterable[int] | None = None) -> tuple[int, list[int] | None]:
    """
    Check what apply_bitmask does, for arrays of any device that are given as (dtype, shape, strides, device). Returns the number of tokens and the rows, None if all.
    """

def allow_all(bitmask: object | None) -> None:
    """Set all bits of an int32 array of any shape, in place, on the CPU."""

def copy_rows(array: Any, what: str, dtype: str) -> tuple[int, int, bytes]:
    """
    The number of rows, their length and the elements of a 1-D or 2-D array on the CPU.
    """
