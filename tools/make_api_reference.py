"""Makes ``docs/api_reference.md``: every public name with its signature and docstring.

Idea: docstrings are Google style and say all there is to say, so the page is made of them: a
heading and a signature for each name, method and property, the sections of a docstring as lists.
What is public is what ``__all__`` of a module says, and the names of a class without an underscore.
Run ``python tools/make_api_reference.py`` to write it, with ``--check`` to compare.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import inspect
import re
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from generated import write_or_check

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs/api_reference.md"
MODULES: Final = {
    "maskwright": "Grammars, compilers, matchers, bitmasks and errors. Loaded on first use.",
    "maskwright.testing": "Functions for tests of those who use the package.",
    "maskwright.chat": "Language models whose output is held to a format; see the "
    "[chat guide](chat_guide.md).",
}
WITHOUT_DOCSTRING: Final = {
    "__version__": "The version of the package.",
    "bitmask_dtype": "The dtype of bitmasks: `torch.int32` if torch is loaded, else numpy's.",
    "FinishReason": "Why a generation ended: the text is complete, or the token limit cut it off.",
    "LogitProcessor": "Called with the tokens so far and the row of logits (float32), which it may "
    "change.",
    "Message": "A chat message: `role` and `content`, and what else the chat template reads.",
}
INTRODUCTION: Final = """\
# API reference

Made by `tools/make_api_reference.py` from the docstrings. The guides explain how the parts go
together: [compiler](compiler_guide.md), [engine](engine_guide.md), [chat](chat_guide.md),
[serialisation](serialisation_guide.md), [regular expressions](regex_guide.md),
[EBNF](ebnf_guide.md).
"""
WIDTH: Final = 100
INTERNAL: Final = frozenset(["renew"])
"""Methods that only the package itself calls: of objects that outlive a fork."""
_SECTION = re.compile(r"(Args|Attributes|Raises|Returns|Yields|Example):$")
_ENTRY = re.compile(r"(\*{0,2}[\w.]+):\s+(.*)", re.DOTALL)
_ODD_DEFAULT = re.compile(r"<.*>", re.DOTALL)


def main() -> int:
    """Write the document, or compare it with what would be written."""
    return write_or_check(TARGET, document())


def document() -> str:
    """Return the text of the document."""
    lines = [INTRODUCTION]
    seen: set[int] = set()
    for module_name, about in MODULES.items():
        module = importlib.import_module(module_name)
        names = sorted(module.__all__, key=lambda name: (name[0].islower(), name.lower()))
        found = {name: getattr(module, name) for name in names}
        listed = [
            name
            for name, value in found.items()
            if not inspect.ismodule(value) and id(value) not in seen
        ]
        seen |= {id(found[name]) for name in listed if name not in WITHOUT_DOCSTRING}
        links = ", ".join(f"[`{name}`](#{_anchor(name)})" for name in listed)
        lines += [f"## {module_name}\n", f"{about}\n", f"{links}\n"]
        for name in listed:
            lines += _entry(name, found[name])
    return "\n".join(lines).rstrip() + "\n"


def _entry(name: str, value: Any) -> Iterator[str]:
    yield f"### `{name}`\n"
    if name in WITHOUT_DOCSTRING:
        yield WITHOUT_DOCSTRING[name] + "\n"
    elif inspect.isclass(value):
        yield from _class(name, value)
    else:
        yield _code(_signature(name, value))
        yield _markdown(inspect.getdoc(value) or "")


def _class(name: str, cls: type) -> Iterator[str]:
    text = inspect.getdoc(cls) or ""
    bases = ", ".join(base.__name__ for base in cls.__bases__ if _is_told(base))
    if issubclass(cls, enum.Enum):
        members = "\n".join(f"{member.name} = {member.value!r}" for member in cls)
        yield _code(f"class {name}({bases})\n\n{members}")
    elif _is_made_by_users(cls, text):
        yield _code(f"class {_signature(name, cls)}")
    else:
        yield _code(f"class {name}")
    if bases and not issubclass(cls, enum.Enum):
        yield f"Bases: `{bases}`.\n"
    yield _markdown(text)
    if issubclass(cls, enum.Enum):
        return
    for member, found in _members(cls):
        yield f"#### `{name}.{member}`\n"
        yield from _member(member, found)


def _is_told(base: type) -> bool:
    return base is not object and not base.__name__.endswith("Base") and base.__name__ != "Protocol"


def _is_made_by_users(cls: type, text: str) -> bool:
    if getattr(cls, "_is_protocol", False):
        return False
    is_told = "\nArgs:\n" in text or dataclasses.is_dataclass(cls)
    return is_told or issubclass(cls, BaseException)


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties of a class and of its bases that are no public classes."""
    owners = [cls, *(base for base in cls.__mro__[1:] if base.__name__.endswith("Base"))]
    seen: set[str] = set()
    for owner in owners:
        for name, found in vars(owner).items():
            is_method = callable(found) or isinstance(found, (classmethod, staticmethod, property))
            if name.startswith("_") or name in {*seen, *INTERNAL} or not is_method:
                continue
            seen.add(name)
            yield name, found


def _member(name: str, found: Any) -> Iterator[str]:
    function = getattr(found, "__func__", found)
    if isinstance(found, property):
        annotation = getattr(found.fget, "__annotations__", {}).get("return")
        kind = "" if annotation is None else f" `{_annotation(annotation)}`"
        can_be_set = " that can be set" if found.fset is not None else ""
        yield f"Property{kind}{can_be_set}.\n"
    else:
        kind = {classmethod: "classmethod ", staticmethod: "staticmethod "}.get(type(found), "")
        if inspect.iscoroutinefunction(function):
            kind += "async "
        yield _code(kind + _signature(name, function))
    text = inspect.getdoc(function) or ""
    if _native_signature(name, text):
        text = text.partition("\n\n")[2]
    yield _markdown(text)


def _native_signature(name: str, text: str) -> str | None:
    """The first line of a native function's docstring, which is its signature."""
    first = text.partition("\n")[0]
    return first if first.startswith(f"{name}(") else None


def _signature(name: str, value: Any) -> str:
    native = _native_signature(name, inspect.getdoc(value) or "")
    if native is not None:
        return native.replace("(self, ", "(").replace("(self)", "()").replace("typing.", "")
    signature = inspect.signature(value)
    parameters = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
    shown = list(_parameters(parameters))
    returned = signature.return_annotation
    tail = ""
    if not inspect.isclass(value) and returned is not inspect.Signature.empty:
        tail = f" -> {_annotation(returned)}"
    line = f"{name}({', '.join(shown)}){tail}"
    if len(line) <= WIDTH:
        return line
    return f"{name}(\n" + "".join(f"    {entry},\n" for entry in shown) + f"){tail}"


def _parameters(parameters: Iterable[inspect.Parameter]) -> Iterator[str]:
    """Each parameter as it is written, with the marks for positional and named ones."""
    kinds = [parameter.kind for parameter in parameters]
    has_star = inspect.Parameter.VAR_POSITIONAL in kinds
    for index, parameter in enumerate(parameters):
        kind = parameter.kind
        if kind is inspect.Parameter.KEYWORD_ONLY and not has_star:
            has_star = True
            yield "*"
        text = parameter.name
        if kind is inspect.Parameter.VAR_POSITIONAL:
            text = f"*{text}"
        elif kind is inspect.Parameter.VAR_KEYWORD:
            text = f"**{text}"
        if parameter.annotation is not inspect.Parameter.empty:
            text += f": {_annotation(parameter.annotation)}"
        if parameter.default is not inspect.Parameter.empty:
            text += f" = {_default(parameter.default)}"
        yield text
        is_last = index + 1 == len(kinds) or kinds[index + 1] is not kind
        if kind is inspect.Parameter.POSITIONAL_ONLY and is_last:
            yield "/"


def _annotation(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return text.removeprefix("'").removesuffix("'")


def _default(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    text = repr(value)
    return "..." if _ODD_DEFAULT.search(text) else text


def _code(text: str) -> str:
    return f"```python\n{text}\n```\n"


def _markdown(docstring: str) -> str:
    """A docstring with its sections as lists, and its examples as code."""
    blocks: list[str] = []
    section = ""
    lines: list[str] = []
    for line in [*docstring.splitlines(), "Returns:"]:
        found = _SECTION.match(line)
        if found is None:
            lines.append(line)
            continue
        blocks.append(_block(section, textwrap.dedent("\n".join(lines)).strip("\n")))
        section, lines = found[1], []
    return "\n".join(block for block in blocks if block)


def _block(section: str, text: str) -> str:
    if not text:
        return ""
    if section == "Example":
        return _example(text)
    if section in ("", "Returns", "Yields"):
        return (f"{section}: " if section else "") + _prose(text) + "\n"
    entries = [_ENTRY.match(_joined(entry)) for entry in re.split(r"\n(?=\S)", text)]
    items = [f"- `{entry[1]}`: {_inline(entry[2])}" for entry in entries if entry is not None]
    if len(items) != len(entries):
        raise ValueError(f"a section {section} has an entry without a name: {text}")
    return f"{section}:\n\n" + "\n".join(items) + "\n"


def _example(text: str) -> str:
    """Code in fences, and what is said between."""
    blocks = []
    for part in re.split(r"\n\n(?=\S)", text):
        is_code = part.startswith(">>>")
        blocks.append(_code(part) if is_code else _prose(part) + "\n")
    return "Example:\n\n" + "\n".join(blocks)


def _prose(text: str) -> str:
    return "\n\n".join(_inline(_joined(part)) for part in text.split("\n\n"))


def _joined(text: str) -> str:
    return " ".join(text.split())


def _inline(text: str) -> str:
    """The text with the marks of code that Markdown has, and nothing else that it would read."""
    parts = re.split(r"(``.+?``|`[^`]+`)", text)
    return "".join(
        f"`{part.strip('`')}`" if part.startswith("`") else re.sub(r"([*_<|])", r"\\\1", part)
        for part in parts
    )


def _anchor(heading: str) -> str:
    return heading.lower()


if __name__ == "__main__":
    sys.exit(main())
