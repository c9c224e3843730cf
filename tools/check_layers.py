"""Fails when an import or an include points against the direction of the layers.

The layers, lowest first; each may use the ones before it and nothing after it:

    Python   shown, errors, certificate, unicode, stored_text, tokenizers, kernels -> ir
             -> frontends -> public API -> integrations, compat, chat, server, cli
             `_core` is for kernels, the public API and above; a front-end sees no engine, only what
             `_native` takes from it: the writer of IR and the readers of schemas.
    C++      support -> ir -> automata -> json -> mask -> matcher -> batch -> bindings;
             `front_end` knows Python and writes IR, and sees `support` and `ir` only;
             `trie` knows the vocabulary and nothing of grammars, so it sees `support` only.

How: Python files are parsed with `ast`, so imports inside functions and under TYPE_CHECKING count
too; C++ files are read for `#include` lines. The layer of a file is the folder it lies in.
Cost: one pass over the tree, well under a second.

Usage: python tools/check_layers.py [ROOT]
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "maskwright"

# What each part of the Python package may import, besides itself. Modules directly in the package
# that have no entry here (grammar.py, matcher.py, ...) are the public API.
_BASE = frozenset({"errors", "shown"})
_FRONT_END_NEEDS = _BASE | {"_native", "ir", "unicode", "certificate", "frontends"}
_API_NEEDS = _FRONT_END_NEEDS | {"_core", "stored_text", "tokenizers", "kernels"}
_ABOVE_API = _API_NEEDS | {"api"}
PYTHON_LAYERS: dict[str, frozenset[str]] = {
    "shown": frozenset(),
    "errors": frozenset({"shown"}),
    "_core": frozenset(),
    "certificate": _BASE,
    "unicode": _BASE,
    "stored_text": _BASE,
    "tokenizers": _BASE | {"stored_text"},
    "kernels": _BASE | {"_core"},
    "_native": frozenset({"_core"}),
    "ir": _BASE | {"_native"},
    "frontends": _FRONT_END_NEEDS,
    "api": _API_NEEDS,
    # The package itself only names what others define; `load` comes from the chat layer.
    "__init__": _API_NEEDS | {"api", "chat"},
    "__main__": frozenset({"cli"}),
    "integrations": _ABOVE_API,
    "compat": _ABOVE_API | {"integrations"},
    "chat": _ABOVE_API | {"integrations"},
    "server": _ABOVE_API | {"integrations", "chat"},
    "cli": _ABOVE_API | {"integrations", "chat", "server"},
}

# Front-ends in the order in which one may use another: a later one may use an earlier one.
FRONT_ENDS = ("regex", "json_schema", "ebnf", "lark", "structural_tag")

# What each folder under cpp/src and cpp/include/maskwright may include, besides itself.
CPP_LAYERS: dict[str, frozenset[str]] = {}
for _name, _needs in (
    ("support", ()),
    ("trie", ("support",)),
    ("pool", ("support",)),
    ("ir", ("support",)),
    ("automata", ("support", "ir")),
    ("json", ("support", "ir", "automata")),
    ("mask", ("support", "ir", "automata", "json", "trie")),
    ("matcher", ("support", "ir", "automata", "json", "trie", "mask")),
    ("serialize", ("support", "ir", "automata", "json", "trie", "mask", "matcher")),
    ("batch", ("support", "ir", "automata", "json", "trie", "mask", "matcher", "pool")),
):
    CPP_LAYERS[_name] = frozenset(_needs)

# What front-ends do natively: it knows Python, writes IR, and sees no engine.
FRONT_END = "front_end"
CPP_LAYERS[FRONT_END] = frozenset({"support", "ir"})

# The engine is plain C++: these belong to the bindings and front-ends, or to nobody.
FORBIDDEN_IN_CORE = re.compile(
    r"^(Python\.h|nanobind/.*|pybind11/.*|torch/.*|ATen/.*|c10/.*|spdlog/.*|glog/.*|iostream)$"
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^">]+)[">]', re.MULTILINE)


@dataclass(frozen=True)
class Violation:
    """One import or include that the direction rule forbids."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


# --- Python ---------------------------------------------------------------------------------------


def _imported_modules(tree: ast.AST, module: str, *, is_package: bool) -> list[tuple[int, str]]:
    """Lists (line, absolute dotted name) of everything that `module` imports."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.extend((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".")
                keep = len(parts) - node.level + (1 if is_package else 0)
                base = ".".join([*parts[:keep], *([node.module] if node.module else [])])
            # `from package import name`: the name may be a module of its own.
            found.extend((node.lineno, f"{base}.{alias.name}") for alias in node.names)
        elif (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).split(".")[-1] in {"import_module", "__import__"}
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and isinstance(node.args[0].value, str)
        ):
            found.append((node.lineno, node.args[0].value))
    return found


def _python_layer(root: Path, dotted: str) -> tuple[str, str | None] | None:
    """Gives (layer, front-end) of a dotted name inside the package; None for other packages."""
    parts = dotted.split(".")
    if parts[0] != PACKAGE:
        return None
    top = parts[1] if len(parts) > 1 else ""
    if top in PYTHON_LAYERS and top != "api":
        is_front_end = top == "frontends" and len(parts) > 2 and parts[2] in FRONT_ENDS
        return top, parts[2] if is_front_end else None
    if (root / "src" / PACKAGE / top / "__init__.py").is_file() and top:
        return f"?{top}", None
    return "api", None


def _judge_python(own: tuple[str, str | None], target: tuple[str, str | None]) -> str | None:
    """Says what is wrong with an import from layer `own` to layer `target`; None when nothing."""
    if own[0] != target[0]:
        allowed_layers = PYTHON_LAYERS[own[0]]
        if target[0] in allowed_layers:
            return None
        allowed = ", ".join(sorted(allowed_layers)) or "nothing"
        return f"back edge: {own[0]} must not import {target[0]} (it may import: {allowed})"
    if own[1] and target[1] and FRONT_ENDS.index(target[1]) > FRONT_ENDS.index(own[1]):
        order = " -> ".join(FRONT_ENDS)
        return f"back edge: front-end {own[1]} must not import {target[1]} (order: {order})"
    return None


def check_python(root: Path) -> list[Violation]:
    """Checks every import in src/maskwright.

    Args:
        root: The repository root.

    Returns:
        The violations, in the order of the files.
    """
    source = root / "src"
    violations: list[Violation] = []
    for path in sorted((source / PACKAGE).rglob("*.py")):
        is_package = path.name == "__init__.py"
        parts = path.relative_to(source).with_suffix("").parts
        module = ".".join(parts[:-1] if is_package else parts)
        own = ("__init__", None) if module == PACKAGE else _python_layer(root, module)
        if own is None:
            continue
        if own[0].startswith("?"):
            message = f"package {own[0][1:]!r} has no layer; name it in tools/check_layers.py"
            violations.append(Violation(path.relative_to(root), 1, message))
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
        for line, name in _imported_modules(tree, module, is_package=is_package):
            target = _python_layer(root, name)
            verdict = None if target is None else _judge_python(own, target)
            if verdict:
                violations.append(Violation(path.relative_to(root), line, f"{verdict}: {name}"))
    return violations


# --- C++ ------------------------------------------------------------------------------------------


def _cpp_layer_of_include(root: Path, including: Path, target: str) -> str | None:
    """Gives the layer of an included file; None for system and third-party headers."""
    cpp = root / "cpp"
    candidates = (including.parent / target, cpp / "include" / target, cpp / "src" / target)
    for candidate in candidates:
        if candidate.is_file():
            return _cpp_layer(root, candidate.resolve())
    # A header of ours that does not exist (yet) still names its layer.
    parts = target.split("/")
    return parts[1] if parts[0] == PACKAGE and len(parts) > 2 else None


def _cpp_layer(root: Path, path: Path) -> str:
    """Gives the layer of a file of ours: its folder under src/ or include/maskwright/."""
    cpp = (root / "cpp").resolve()
    parts = path.resolve().relative_to(cpp).parts
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    if parts[0] == "include" and len(parts) > 3:
        return parts[2]
    return parts[0]


def check_cpp(root: Path) -> list[Violation]:
    """Checks every include in cpp/include, cpp/src and cpp/front_end.

    Args:
        root: The repository root.

    Returns:
        The violations, in the order of the files.
    """
    violations: list[Violation] = []
    folders = (root / "cpp" / "include", root / "cpp" / "src", root / "cpp" / FRONT_END)
    paths = [p for f in folders for p in f.rglob("*") if p.suffix in {".h", ".hpp", ".cpp", ".inc"}]
    for path in sorted(paths):
        own = _cpp_layer(root, path)
        allowed = CPP_LAYERS.get(own)
        shown = path.relative_to(root)
        if allowed is None:
            message = f"file lies in no known layer ({', '.join(CPP_LAYERS)})"
            violations.append(Violation(shown, 1, message))
            continue
        text = path.read_text(encoding="utf-8")
        for match in _INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            target = match[1]
            if own != FRONT_END and FORBIDDEN_IN_CORE.match(target):
                violations.append(Violation(shown, line, f"the engine must not include {target}"))
                continue
            layer = _cpp_layer_of_include(root, path, target)
            if layer is None or layer == own or layer in allowed:
                continue
            names = ", ".join(sorted(allowed)) or "nothing"
            message = f"back edge: {own} must not include {layer} (it may include: {names})"
            violations.append(Violation(shown, line, f"{message}: {target}"))
    return violations


def main(arguments: list[str]) -> int:
    """Runs both checks and prints what they find; returns the exit status."""
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    violations = check_python(root) + check_cpp(root)
    for violation in violations:
        print(violation)
    if not violations:
        print("layers: no back edge")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
