r"""Parser: pattern text -> syntax tree, in one pass with an explicit stack of open groups.

Idea: a frame per open group holds the alternatives so far and the sequence being read; runs of
plain characters are taken in one step. Flags are resolved here (``i`` turns characters into
classes, ``s`` and ``m`` choose the set of ``.`` and the meaning of anchors), capturing groups leave
no trace but for back references, and a back reference is replaced by the text of its group where
that is fixed. The dialect is described in ``scanner``; what Python and PCRE add is accepted where
it means one thing only (``(?P<n>...)``, ``(?#...)``, ``\A``, ``\z``, ``\Z``), else refused by name.
For patterns of any dialect so is what ECMA-262 silently reads as something else than others do.
Cost: linear in the pattern.
Source: ECMA-262, "Patterns".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ...errors import LimitExceededError
from . import ast, charset
from .ast import Edge, Node
from .captures import Frame, GroupNames
from .classes import read_class
from .modifiers import read_modifiers, refuse_foreign_group
from .quantifiers import at_quantifier, nothing_to_repeat, read_quantifier
from .scanner import Scanner

if TYPE_CHECKING:
    from .limits import RegexLimits

_PLAIN = re.compile(r"[^\\^$.|?*+()\[\]{}]+")
_GROUP_NAME = re.compile(r"\(\?P?<([^>]*)>")
_PYTHON_REFERENCE = re.compile(r"\(\?P=([^)]*)\)")
_NAMED_REFERENCE = re.compile(r"<([^>]*)>")
_NUMBER = re.compile(r"[1-9][0-9]*")
_LOOKS = {"(?=": (False, False), "(?!": (False, True), "(?<=": (True, False), "(?<!": (True, True)}
_OPEN_QUANTIFIER = re.compile(r"\{(,[0-9]*)\}")


class ParsedPattern(NamedTuple):
    """What the parser returns.

    Attributes:
        root: The tree.
        num_anchors: How often ``^`` or ``$`` occurs.
        has_lookaround: Any other assertion occurs.
    """

    root: Node
    num_anchors: int
    has_lookaround: bool


def parse(
    pattern: str, flags: str = "", *, limits: RegexLimits, any_dialect: bool = False
) -> ParsedPattern:
    """Parse a pattern.

    Args:
        pattern: The text.
        flags: Any of ``i`` (ignore case), ``m`` (multiline anchors), ``s`` (dot matches line
            terminators), ``u`` (no web-legacy readings).
        limits: Bounds on the pattern.
        any_dialect: Refuse what other dialects read otherwise.

    Raises:
        GrammarSyntaxError: The pattern is malformed; carries the offset.
        UnsupportedFeatureError: It holds a construct that is not supported.
        LimitExceededError: It is beyond a limit.
    """
    return _Parser(pattern, flags, limits, any_dialect).run()


class _Parser(Scanner):
    """One parse."""

    def __init__(self, pattern: str, flags: str, limits: RegexLimits, any_dialect: bool) -> None:
        super().__init__(pattern, legacy="u" not in flags, any_dialect=any_dialect)
        self.limits = limits
        self.num_anchors = 0
        self.has_lookaround = False
        self.names = GroupNames(self)
        for flag in flags:
            if flag not in "imsu" or flags.count(flag) > 1:
                self.fail(
                    "bad-flag", f"bad flags {flags!r}; use each of i, m, s, u at most once", 0
                )
        self.flags = frozenset(flags) - {"u"}
        self.frames = [Frame("pattern", 0, self.flags)]

    def run(self) -> ParsedPattern:
        """Read the whole pattern."""
        handlers = {
            "\\": self._escape,
            "(": self._open,
            ")": self._close,
            "[": self._class,
            "|": self._bar,
            ".": self._dot,
            "^": self._caret,
            "$": self._dollar,
        }
        self._check_text()
        while self.pos < len(self.pattern):
            handler = handlers.get(self.pattern[self.pos])
            if handler:
                handler()
            else:
                self._plain()
        frame = self.frames[-1]
        if len(self.frames) > 1:
            self.fail("unterminated-group", "this group has no closing )", frame.start)
        return ParsedPattern(frame.finish(), self.num_anchors, self.has_lookaround)

    def _check_text(self) -> None:
        limit = self.limits.max_pattern_length
        if len(self.pattern) > limit:
            raise LimitExceededError(
                f"the pattern has {len(self.pattern)} characters, more than max_pattern_length = "
                f"{limit}; raise the limit or split the pattern",
                code="regex-pattern-too-long",
                limit="max_pattern_length",
                value=limit,
            )
        for match in re.finditer("[\ud800-\udfff]", self.pattern):
            self.lone_surrogate(match.start())

    # Atoms

    def _plain(self) -> None:
        match = _PLAIN.match(self.pattern, self.pos)
        if match is None:
            self._plain_special()
            return
        text, self.pos = match[0], match.end()
        if len(text) > 1 and at_quantifier(self):
            text = text[:-1]
            self.pos -= 1
        if "i" in self.flags:
            items = [self._character(ord(char)) for char in text]
        else:
            items = [ast.Text(text)]
        self.frames[-1].items += items[:-1]
        self._atom(items[-1])

    def _plain_special(self) -> None:
        """One of ``* + ? { } ]`` where no quantifier can stand."""
        char = self.peek()
        if at_quantifier(self):
            nothing_to_repeat(self)
        match = _OPEN_QUANTIFIER.match(self.pattern, self.pos)
        if match and self.any_dialect:
            self.unsupported(
                "open quantifier",
                f"{match[0]} is a count in Python and other dialects, and text in ECMA-262; write "
                f"{{0{match[1]}}} for the count, \\{match[0]} for the text",
                self.pos,
            )
        if not self.legacy:
            self.fail("unescaped-bracket", f"write \\{char} for a literal {char}", self.pos)
        self.pos += 1
        self._atom(self._character(ord(char)))

    def _character(self, code_point: int) -> Node:
        ranges = ((code_point, code_point),)
        return ast.chars(charset.case_closure(ranges) if "i" in self.flags else ranges)

    def _class(self) -> None:
        self._atom(ast.chars(read_class(self, ignore_case="i" in self.flags)))

    def _dot(self) -> None:
        self.pos += 1
        self._atom(ast.ANY_CHAR if "s" in self.flags else _DOT)

    def _escape(self) -> None:
        start = self.pos
        self.pos += 1
        char = self.peek()
        if char in ("b", "B"):
            self.pos += 1
            self._word_boundary(start, negated=char == "B")
        elif char in ("A", "z", "Z") and self.legacy:
            self.pos += 1
            self._anchor(ast.TEXT_START if char == "A" else ast.TEXT_END)
        elif ("1" <= char <= "9" and self._numbered_reference(start)) or (
            char == "k" and self._named_reference(start)
        ):
            return
        else:
            found = self.escape(in_class=False, ignore_case="i" in self.flags)
            self._atom(self._character(found) if isinstance(found, int) else ast.chars(found))

    def _numbered_reference(self, start: int) -> bool:
        match = _NUMBER.match(self.pattern, self.pos)
        if match is None or len(match[0]) > 6 or int(match[0]) > self.names.group_count():
            return False
        self.pos = match.end()
        self._reference([int(match[0])], start)
        return True

    def _named_reference(self, start: int) -> bool:
        match = _NAMED_REFERENCE.match(self.pattern, self.pos + 1)
        if self.legacy and not self.names.any_named():
            return False
        if match is None:
            self.fail("bad-reference", "expected \\k<name>", start)
        self.pos = match.end()
        self._reference(self.names.lookup(match[1], start), start)
        return True

    def _reference(self, groups: list[int], start: int) -> None:
        if any(frame.kind.endswith("lookbehind") for frame in self.frames):
            groups = []  # evaluated from right to left: the group may not be set yet
        for frame in reversed(self.frames):
            for group in groups:
                text = frame.fixed.get(group)
                if text is not None:
                    self._atom(ast.concat(self._character(ord(char)) for char in text))
                    return
        self.unsupported(
            "back reference",
            "a back reference is supported only to a group before it that always takes part and "
            "matches one fixed text; spell the repeated part out",
            start,
        )

    # Assertions

    def _anchor(self, edge: Edge) -> None:
        self.num_anchors += 1
        self.frames[-1].items.append(edge)
        self._no_quantifier()

    def _caret(self) -> None:
        self.pos += 1
        self._line_anchor(ast.TEXT_START)

    def _dollar(self) -> None:
        self.pos += 1
        self._line_anchor(ast.TEXT_END)

    def _line_anchor(self, edge: Edge) -> None:
        if "m" in self.flags:
            self.has_lookaround = True
            name, ranges = "multiline anchor", charset.LINE_TERMINATORS
            edge = edge._replace(ranges=ranges, name=name, offset=self.pos - 1)
        self._anchor(edge)

    def _word_boundary(self, start: int, *, negated: bool) -> None:
        self.has_lookaround = True
        word = charset.case_closure(charset.WORD) if "i" in self.flags else charset.WORD
        before = Edge(True, word, False, "word boundary", start)
        after = Edge(False, word, False, "word boundary", start)
        not_before, not_after = ast.negated_edge(before), ast.negated_edge(after)
        pairs = ((before, after), (not_before, not_after))
        if not negated:
            pairs = ((before, not_after), (not_before, after))
        self.frames[-1].items.append(ast.alternation(map(ast.concat, pairs)))
        self._no_quantifier()

    def _no_quantifier(self) -> None:
        if at_quantifier(self):
            nothing_to_repeat(self)

    # Groups

    def _push(self, kind: str, skip: int) -> Frame:
        limit = self.limits.max_nesting
        if len(self.frames) > limit:
            raise LimitExceededError(
                f"groups are nested more than max_nesting = {limit} deep; raise the limit or "
                "simplify the pattern",
                code="regex-nesting",
                limit="max_nesting",
                value=limit,
                source=self.pattern,
                offset=self.pos,
            )
        frame = Frame(kind, self.pos, self.flags)
        self.frames.append(frame)
        self.pos += skip
        return frame

    def _open(self) -> None:
        pattern, start = self.pattern, self.pos
        if not pattern.startswith("(?", start):
            self._push("group", 1).capture = self.names.next_capture(None, start)
            return
        if pattern.startswith("(?:", start):
            self._push("group", 3)
            return
        for opener, (behind, negative) in _LOOKS.items():
            if pattern.startswith(opener, start):
                kind = "lookbehind" if behind else "lookahead"
                self._push("negative " + kind if negative else kind, len(opener))
                return
        self._open_named_or_foreign()

    def _open_named_or_foreign(self) -> None:
        pattern, start = self.pattern, self.pos
        match = _GROUP_NAME.match(pattern, start)
        if match:
            capture = self.names.next_capture(match[1], start)
            frame = self._push("group", len(match[0]))
            frame.capture = capture
            frame.names = {match[1]: start}
            return
        match = _PYTHON_REFERENCE.match(pattern, start)
        if match:
            self.pos = match.end()
            self._reference(self.names.lookup(match[1], start), start)
            return
        if pattern.startswith("(?#", start):
            end = pattern.find(")", start)
            if end < 0:
                self.fail("unterminated-group", "this comment has no closing )", start)
            self.pos = end + 1
            return
        refuse_foreign_group(self)
        flags, length = read_modifiers(self, self.flags)
        self._push("group", length)
        self.flags = flags

    def _bar(self) -> None:
        self.pos += 1
        self.frames[-1].next_option()

    def _close(self) -> None:
        if len(self.frames) == 1:
            self.fail(
                "unmatched-paren", "this ) closes no group; write \\) for a literal one", self.pos
            )
        frame = self.frames.pop()
        self.pos += 1
        self.flags = frame.flags
        body = frame.finish()
        if frame.kind == "group":
            clash = self.frames[-1].merge_names(frame)
            if clash is not None:
                self.fail("duplicate-name", f"the group name {clash[0]} is taken", clash[1])
            self._atom(body, frame.settled(body))
            return
        self.frames[-1].merge_names(frame)
        self._close_look(frame, body)

    def _close_look(self, frame: Frame, body: Node) -> None:
        behind, negative = frame.kind.endswith("behind"), frame.kind.startswith("negative")
        edge = _edge_of(body, behind=behind)
        node: Node
        if edge is not None:
            edge = edge._replace(name=frame.kind, offset=frame.start)
            node = ast.negated_edge(edge) if negative else edge
        else:
            node = ast.Look(behind, negative, body, frame.start)
        if isinstance(node, Edge) and ast.is_text_anchor(node):
            self.num_anchors += 1
        else:
            self.has_lookaround = True
        if not at_quantifier(self):
            self.frames[-1].items.append(node)
        elif behind or not self.legacy:
            nothing_to_repeat(self)
        else:
            minimum, _ = read_quantifier(self, self.limits.max_repeat)
            # Repeated, it asks the same again; an iteration that is empty may be left out.
            self.frames[-1].items.append(node if minimum else ast.EMPTY)

    # Quantifiers

    def _atom(self, node: Node, fixed: dict[int, str] | None = None) -> None:
        """Add an atom, and the quantifier that may follow it."""
        frame = self.frames[-1]
        if at_quantifier(self):
            minimum, maximum = read_quantifier(self, self.limits.max_repeat)
            node = ast.repeat(node, minimum, maximum)
            if not minimum:
                fixed = None
        frame.items.append(node)
        if fixed:
            frame.fixed.update(fixed)


_DOT = ast.Chars(charset.complement(charset.LINE_TERMINATORS))


def _edge_of(body: Node, *, behind: bool) -> Edge | None:
    """Return a lookaround body as a condition on one character, if it is one."""
    parts = body.options if isinstance(body, ast.Alternation) else (body,)
    edge = ast.Edge(behind, charset.NONE, False)
    for part in parts:
        ranges = ast.single_set(part)
        if ranges is not None:
            edge = edge._replace(ranges=charset.union(edge.ranges, ranges))
        elif isinstance(part, Edge) and part.behind == behind:
            merged = charset.union(edge.ranges, part.ranges)
            edge = edge._replace(ranges=merged, at_edge=edge.at_edge or part.at_edge)
        else:
            return None
    return edge
