"""Compiles grammars for one vocabulary, and keeps what it compiled.

Idea: a compiled grammar depends on the vocabulary, so a compiler belongs to one `TokenizerInfo`.
Its cache is looked up by the exact source and options first, and by what the front-end makes of it
second; see ``compile_cache``. What grammars have in common below that, masks, they share; see
``generations``.
Cost: front-end plus core, both linear in what the grammar reaches. States and masks are built when
a matcher first needs them, and shared by all matchers of the grammar.
"""

from __future__ import annotations

import weakref
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from . import _core
from ._core import MaskTable
from .compile_cache import CacheStats, CompileCache
from .compile_future import CompileFuture, end_after, submit_twice
from .compile_requests import (
    KINDS,
    CompileRequest,
    builtin_json_request,
    grammar_request,
    is_plain_schema,
    json_schema_request,
    regex_request,
)
from .compiled_grammar import (
    CompiledGrammar,
    check_tokenizer_info,
    checked_limits,
    further_key_bytes,
    object_bytes,
)
from .compiler_stats import CompilerStats
from .disk_cache import DiskCache, DiskCacheStats
from .errors import CompileTimeoutError, GrammarError
from .generations import Generation, PastGenerations
from .option_checks import check_count, check_seconds
from .precompute import MODES, Budget, Mode, Precomputer
from .work_pool import WorkPool

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from .computation import Computation
    from .grammar import Grammar
    from .ir.format import NumberSpelling
    from .tokenizer_info import TokenizerInfo


__all__ = [
    "CacheStats",
    "CompileFuture",
    "CompiledGrammar",
    "CompilerStats",
    "DiskCacheStats",
    "GrammarCompiler",
    "MaskTable",
]

_FREED_AT_ONCE = 8
"""Grammars that `GrammarCompiler.clear_cache` frees in the thread that calls it."""


class GrammarCompiler:
    r"""Compiles grammars for one vocabulary. Safe to use from several threads.

    A grammar that was compiled before, from the same source with the same options, comes from the
    cache; threads that ask for the same one at the same time share one computation. The engine
    works without Python's global lock.

    Args:
        tokenizer_info: The vocabulary.
        max_threads: Threads of its own that the compiler may start, for `submit` and for
            ``precompute``. The methods ``compile_*`` compile in the thread that calls them.
        cache_enabled: Keep compiled grammars.
        cache_limit_bytes: Memory that the cache may take, least recently used out first; -1: no
            limit. A third of it is for masks that grammars share, the rest for grammars and what
            is theirs alone: masks that matchers compute add to that, and it is brought within the
            limit whenever a grammar is asked for. A grammar that is larger is compiled and not
            kept.
        enable_dynamic_compilation: Accepted for compatibility, without effect: see ``precompute``.
        precompute: When masks are computed: ``"lazy"``: when a matcher asks for them;
            ``"background"``: also ahead, by threads of the compiler, once a grammar is compiled;
            ``"eager"``: ahead, before it is returned. Forced text and the names of a schema come
            first. Masks are the same in all modes.
        precompute_seconds: Processor time that computing ahead may take for one grammar.
        precompute_bytes: Size up to which a grammar may grow by it.
        mask_table_bytes: Memory that `mask_table` may take, outside the limit of the cache. Masks
            that come when it is full have no id.
        disk_cache: A folder in which compiled grammars are kept for later processes and those
            beside this one; it must be one that only those whom you trust can write. None: they
            are not. See the serialisation guide, **Disk cache**.
        disk_cache_limit_bytes: What they may take there, least recently used out first; -1: no
            limit.
        max_states: Limit on the automaton positions of a grammar's rules; None: the default.
        max_targets: Limit on the distinct conjunctions of schemas that apply at one place.
        max_clauses: Limit on the alternatives of one such conjunction.
        max_lang_states: Limit on the states of a product of patterns.

    Raises:
        TypeError: ``tokenizer_info`` is no `TokenizerInfo`, or a limit no number.
        ValueError: A limit is out of its range, or ``precompute`` is none of the three.
        DiskCacheError: ``disk_cache`` is no folder (``disk-cache-folder``), or the database in it
            is damaged or none of this package (``disk-cache-foreign``, ``disk-cache-version``).

    Example:
        >>> from maskwright import TokenizerInfo
        >>> compiler = GrammarCompiler(TokenizerInfo(["a", "b", "</s>"], stop_token_ids=2))
        >>> compiled = compiler.compile_grammar('root ::= "a" | "b"')
        >>> compiler.compile_grammar('root ::= "a" | "b"') is compiled
        True
        >>> compiler.stats().grammars.hits
        1
    """

    def __init__(
        self,
        tokenizer_info: TokenizerInfo,
        *,
        max_threads: int = 8,
        cache_enabled: bool = True,
        cache_limit_bytes: int = -1,
        enable_dynamic_compilation: bool = True,
        precompute: Mode = "lazy",
        precompute_seconds: float = 1.0,
        precompute_bytes: int = 16 << 20,
        mask_table_bytes: int = 64 << 20,
        disk_cache: str | os.PathLike[str] | None = None,
        disk_cache_limit_bytes: int = 1 << 30,
        max_states: int | None = None,
        max_targets: int | None = None,
        max_clauses: int | None = None,
        max_lang_states: int | None = None,
    ) -> None:
        check_tokenizer_info(tokenizer_info)
        del enable_dynamic_compilation
        check_count("max_threads", max_threads, 1)
        check_count("cache_limit_bytes", cache_limit_bytes, -1)
        check_count("disk_cache_limit_bytes", disk_cache_limit_bytes, -1)
        if precompute not in MODES:
            raise ValueError(f"precompute is {precompute!r}; expected one of {', '.join(MODES)}")
        check_seconds("precompute_seconds", precompute_seconds)
        check_count("precompute_bytes", precompute_bytes, 1)
        check_count("mask_table_bytes", mask_table_bytes, 0)
        self._pool = WorkPool(max_threads)
        self._precompute = precompute
        self._precomputer: Precomputer | None = None
        if precompute != "lazy":
            budget = Budget(precompute_seconds, precompute_bytes)
            self._precomputer = Precomputer(self._pool, budget)
            # What is computed ahead ends with its compiler; what was submitted does not.
            weakref.finalize(self, self._pool.forget_background)
        given = (max_states, max_targets, max_clauses, max_lang_states)
        self._limits: dict[str, Any] = checked_limits(given)
        self._tokenizer_info = tokenizer_info
        self._cache_limit_bytes = cache_limit_bytes
        shared_limit = cache_limit_bytes if cache_limit_bytes < 0 else cache_limit_bytes // 3
        self._cache: CompileCache[CompiledGrammar, Generation] = CompileCache(
            partial(Generation, tokenizer_info, shared_limit, mask_table_bytes),
            cache_limit_bytes if cache_limit_bytes < 0 else cache_limit_bytes - shared_limit,
            pool=self._pool,
            key_bytes=further_key_bytes,
        )
        self._past = PastGenerations()
        self._cache_enabled = bool(cache_enabled)
        self._disk_cache: DiskCache | None = None
        if disk_cache is not None:
            self._disk_cache = DiskCache(
                disk_cache, disk_cache_limit_bytes, tokenizer_info, self._limits
            )

    @property
    def tokenizer_info(self) -> TokenizerInfo:
        """The vocabulary."""
        return self._tokenizer_info

    @property
    def cache_limit_bytes(self) -> int:
        """Memory that the cache may take; -1: no limit."""
        return self._cache_limit_bytes

    def compile_json_schema(
        self,
        schema: Any,
        *,
        any_whitespace: bool = True,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        strict_mode: bool = True,
        max_whitespace_cnt: int | None = None,
        any_order: bool = False,
        number_spelling: NumberSpelling = "any",
        assert_format: bool = True,
        dialect: str | None = None,
        registry: Mapping[str, Any] | None = None,
        nullable: bool = False,
        **limits: int,
    ) -> CompiledGrammar:
        """Compile a JSON Schema.

        Args:
            schema: A dict or a bool, JSON text, a pydantic model or a type. A dict is looked up by
                its contents, order included; it must not be changed during the call.
            any_whitespace: As for `Grammar.from_json_schema`, and so are all others.
            indent: See there.
            separators: See there.
            strict_mode: See there.
            max_whitespace_cnt: See there.
            any_order: See there.
            number_spelling: See there.
            assert_format: See there.
            dialect: See there.
            registry: See there.
            nullable: See there.
            **limits: See there.

        Raises:
            MaskwrightError: What `Grammar.from_json_schema` and `compile_grammar` raise.
        """
        return self._compile(
            json_schema_request(
                schema,
                any_whitespace=any_whitespace,
                indent=indent,
                separators=separators,
                strict_mode=strict_mode,
                max_whitespace_cnt=max_whitespace_cnt,
                any_order=any_order,
                number_spelling=number_spelling,
                assert_format=assert_format,
                dialect=dialect,
                registry=registry,
                nullable=nullable,
                **limits,
            )
        )

    def compile_builtin_json_grammar(
        self, *, number_spelling: NumberSpelling = "any"
    ) -> CompiledGrammar:
        """Compile the grammar of any JSON value; see `Grammar.builtin_json_grammar`."""
        return self._compile(builtin_json_request(number_spelling=number_spelling))

    def compile_regex(self, regex: str) -> CompiledGrammar:
        """Compile a regular expression that the whole text must match.

        Args:
            regex: See `Grammar.from_regex`.

        Raises:
            MaskwrightError: What `Grammar.from_regex` and `compile_grammar` raise.
        """
        return self._compile(regex_request(regex))

    def compile_grammar(
        self, grammar: str | Grammar, *, root_rule_name: str = "root"
    ) -> CompiledGrammar:
        """Compile a grammar.

        Args:
            grammar: A `Grammar`, or EBNF text.
            root_rule_name: The rule of the EBNF text that the whole text must match.

        Raises:
            MaskwrightError: What `Grammar.from_ebnf` raises.
            UnsatisfiableGrammarError: No sequence of tokens completes the grammar.
            LimitExceededError: A limit is exceeded; with ``limit`` and ``value``.
            TypeError: ``grammar`` is neither a `Grammar` nor a str.
        """
        return self._compile(grammar_request(grammar, root_rule_name=root_rule_name))

    def submit(
        self,
        kind: str,
        source: Any = None,
        *,
        timeout_seconds: float | None = None,
        **options: Any,
    ) -> CompileFuture[CompiledGrammar]:
        """Compile on a thread of the compiler, front-end included; returns at once.

        What is in the cache is there at once. A grammar that some thread compiles already, by this
        method or another, is waited for without a thread.

        Args:
            kind: What ``source`` is, as the methods are named: ``"json_schema"``, ``"regex"``,
                ``"grammar"`` (a `Grammar` or EBNF text), ``"builtin_json"`` (None). A dict must
                not be changed before the future is done.
            source: What the method takes.
            timeout_seconds: From now on, waiting for a thread included; None: no limit.
            **options: The method's options.

        Returns:
            A `concurrent.futures.Future` that can also be awaited in asyncio. It raises what the
            method raises, and `CompileTimeoutError` (``compile-timeout``) when the time is over.
            ``cancel`` succeeds until it is done. What nobody waits for any longer is not begun,
            or is stopped: the engine at the next place where it looks, a front-end at its end. What
            waits when the program ends is cancelled.

        Raises:
            ValueError: ``kind`` is none of those, or ``timeout_seconds`` is out of range.
            TypeError: ``timeout_seconds`` is no number, the source is of a wrong type, or there is
                no such option. The future of a JSON Schema raises the last itself.
            RuntimeError: The program ends.

        Example:
            >>> from maskwright import TokenizerInfo
            >>> compiler = GrammarCompiler(TokenizerInfo(["a", "b", "</s>"], stop_token_ids=2))
            >>> future = compiler.submit("regex", "a+b", timeout_seconds=10)
            >>> future.result() is compiler.compile_regex("a+b")
            True
        """
        if kind not in KINDS:
            expected = ", ".join(KINDS)
            raise ValueError(f"kind is {kind!r}; expected one of {expected}")
        if timeout_seconds is not None:
            check_seconds("timeout_seconds", timeout_seconds)
        if kind == "json_schema" and not is_plain_schema(source):
            # Asking a type for its schema takes time.
            future = submit_twice(self._pool, lambda: self._submit(KINDS[kind](source, **options)))
        else:
            future = self._submit(KINDS[kind](source, **options))
        if timeout_seconds is not None and not future.done():
            end_after(future, timeout_seconds, lambda: CompileTimeoutError(kind, timeout_seconds))
        return future

    @property
    def mask_table(self) -> MaskTable:
        """The distinct masks of the compiled grammars, by id; `clear_cache` begins a new one."""
        return self._cache.generation.mask_table

    def clear_cache(self) -> None:
        """Forget what was compiled.

        Waits for nothing: a compilation that runs now still returns to its callers and is not kept.
        Compiled grammars in use stay usable, with the masks that they share with each other; see
        ``detached_bytes`` of `stats`.
        """
        past = self._cache.clear()
        self._past.add(past.generation, self._cache.limit_bytes)
        if len(past) > _FREED_AT_ONCE:
            with suppress(RuntimeError):  # no thread: freed in this one
                self._pool.submit(past.free)

    def clear_disk_cache(self) -> None:
        """Delete what is in the disk cache, of all compilers and versions that use the folder's.

        Nothing happens without one. What is compiled stays in memory; see `clear_cache`.

        Raises:
            DiskCacheError: The disk doesn't allow it (``disk-cache-clear``).
        """
        if self._disk_cache is not None:
            self._disk_cache.clear()

    def get_cache_size_bytes(self) -> int:
        """Return the memory of the cached grammars and of what they share, never above the limit.

        0 after `clear_cache`.
        """
        return self._cache.size_bytes() + self._cache.generation.shared_ledger.bytes

    def stats(self) -> CompilerStats:
        """Return figures about the cache and what it holds at this moment; waits for nothing.

        Of a grammar in which something is being computed they are those of a moment before.
        """
        counters = [
            compiled._core.counters()  # noqa: SLF001  of this package
            for compiled in self._cache.values()
        ]
        names = ("frames", "states", "masks", "cold_walks", "visited_nodes")
        totals = {name: sum(counts[name] for counts in counters) for name in names}
        tokenizer_bytes = self._tokenizer_info._memory_bytes  # noqa: SLF001  of this package
        precomputing = 0 if self._precomputer is None else self._precomputer.in_flight()
        shared = self._cache.generation.shared_masks.counters()
        return CompilerStats(
            self._cache.stats(),
            CacheStats(**shared, in_flight=0),
            tokenizer_bytes,
            detached_bytes=self._past.bytes(),
            precomputing=precomputing,
            hits_by_meaning=self._cache.hits_by_meaning,
            disk_cache=None if self._disk_cache is None else self._disk_cache.stats(),
            **totals,
        )

    def _submit(self, request: CompileRequest) -> CompileFuture[CompiledGrammar]:
        key = request.key if self._cache_enabled else None
        return self._cache.submit(key, partial(self._make, request))

    def _compile(self, request: CompileRequest) -> CompiledGrammar:
        key = request.key if self._cache_enabled else None
        return self._cache.get(key, partial(self._make, request))

    def _make(
        self, request: CompileRequest, computation: Computation[CompiledGrammar, Generation]
    ) -> CompiledGrammar:
        """Compile what is not in the cache by its key, or load it from the disk cache."""
        disk_cache = None if request.key is None else self._disk_cache
        if disk_cache is not None:
            loaded = disk_cache.load(request.key, _shared_masks(computation))
            if loaded is not None:
                found = computation.share(
                    loaded.grammar.ir, partial(self._finish, loaded, computation)
                )
                return found.in_form_of(loaded.grammar)
        grammar = request.make_grammar()
        build = partial(self._build, grammar, computation)
        try:
            compiled = computation.share(grammar.ir, build)
        except GrammarError as error:
            located = request.locate(error)
            if located is error:
                raise
            raise located from None
        compiled = compiled.in_form_of(grammar)
        if disk_cache is not None:
            disk_cache.store(request.key, compiled)
        return compiled

    def _build(
        self, grammar: Grammar, computation: Computation[CompiledGrammar, Generation]
    ) -> CompiledGrammar:
        """Compile what is not in the cache at all."""
        core = _core.compile(
            grammar.ir,
            self._tokenizer_info._core,  # noqa: SLF001  of this package
            around_bytes=object_bytes(grammar, computation.key),
            shared_masks=_shared_masks(computation),
            stop=computation.stop,
            **self._limits,
        )
        return self._finish(CompiledGrammar(core, grammar, self._tokenizer_info), computation)

    def _finish(
        self, compiled: CompiledGrammar, computation: Computation[CompiledGrammar, Generation]
    ) -> CompiledGrammar:
        """Give a new grammar what those of the compiler share, and compute its masks ahead."""
        core = compiled._core  # noqa: SLF001  of this package
        core.use_mask_table((computation.generation or self._cache.generation).mask_table)
        if self._precomputer is None:
            return compiled
        if self._precompute == "eager":
            self._precomputer.run(compiled, lambda: not computation.stop.is_set)
        else:
            self._precomputer.start(compiled)
        return compiled


def _shared_masks(
    computation: Computation[CompiledGrammar, Generation],
) -> _core.SharedMasks | None:
    generation = computation.generation
    return None if generation is None else generation.shared_masks
