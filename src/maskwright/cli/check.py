"""``maskwright check``: what becomes of a format, and where an instance leaves it.

Idea: a schema is judged with the options that `generate` compiles it with, so the language is that
of what a model would write.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from maskwright.cli import exit_codes
from maskwright.cli.errors import UsageError, quoted
from maskwright.cli.formats import is_ebnf_text, is_schema_text, read_source
from maskwright.cli.grammar_lengths import unbounded_places
from maskwright.cli.refusal_reasons import reason_of_refusal
from maskwright.cli.schema_options import refuse_schema_options, schema_options
from maskwright.compiler import GrammarCompiler
from maskwright.errors import GrammarError, GrammarSyntaxError, LimitExceededError
from maskwright.frontends.json_schema import compile_json_schema
from maskwright.frontends.json_schema.coverage import Recorder
from maskwright.mismatch import Mismatch, byte_tokenizer_info, find_mismatch

if TYPE_CHECKING:
    from argparse import Namespace

    from maskwright.certificate import Certificate
    from maskwright.compiled_grammar import CompiledGrammar

_WHITESPACE = " \t\n\r"
_OPTIONS = {
    "(any_order lifts it)": "(--any-order lifts it)",
    "(strict_mode=False lifts it)": "(--open lifts it)",
    '(number_spelling="any" lifts it)': "(--number-spelling any lifts it)",
}
"""What the report of the front-end calls an option, and what the command line does."""


@dataclass(frozen=True)
class _Asked:
    """What is to be checked.

    Attributes:
        kind: ``"schema"``, ``"regex"`` or ``"ebnf"``.
        text: The schema, pattern or grammar.
        origin: What messages call it.
        instance: The text to judge; None: none.
    """

    kind: str
    text: str
    origin: str
    instance: str | None


def run_check(arguments: Namespace) -> int:
    """Run the command; see `maskwright check --help`."""
    asked = _asked(arguments)
    report: dict[str, Any] = {asked.kind: asked.origin}
    try:
        if asked.kind == "schema":
            report |= _schema_report(asked, schema_options(arguments))
        else:
            refuse_schema_options(arguments)
            report |= _grammar_report(asked)
    except GrammarSyntaxError as error:
        hint = "; a grammar is named with --ebnf" if is_ebnf_text(asked.text) else ""
        raise UsageError(f"{asked.origin}: {error}{hint if asked.kind == 'schema' else ''}") from (
            error
        )
    except (GrammarError, LimitExceededError) as error:
        report |= {"usable": False, "error": _error(error)}
    print(json.dumps(report, ensure_ascii=False) if arguments.json else _text(report, asked))
    if not report["usable"]:
        return exit_codes.USAGE_ERROR
    is_admitted = report.get("instance", {"accepted": True})["accepted"]
    return exit_codes.OK if is_admitted else exit_codes.RUNTIME_ERROR


def _asked(arguments: Namespace) -> _Asked:
    named = {kind: getattr(arguments, kind) for kind in ("schema", "regex", "ebnf")}
    kind = next((kind for kind, value in named.items() if value is not None), None)
    if kind is None:
        if arguments.first is None:
            raise UsageError(
                "there is nothing to check; expected SCHEMA, --schema, --regex or --ebnf; "
                "`maskwright check --help` tells more"
            )
        kind, source, instance = "schema", arguments.first, arguments.second
        option = "SCHEMA"
    else:
        source, instance, option = named[kind], arguments.first, f"--{kind}"
        if arguments.second is not None:
            raise UsageError(
                f"unexpected {quoted(arguments.second)}; beside {option} there is one INSTANCE"
            )
    if kind != "regex" and source == instance == "-":
        raise UsageError(f"{option} and INSTANCE are both '-'; put one of them into a file")
    if kind == "regex":
        text, origin = source, option
    else:
        is_text = is_schema_text if kind == "schema" else is_ebnf_text
        text, origin = read_source(source, option, is_text=is_text)
    judged = None if instance is None else read_source(instance, "INSTANCE")[0]
    return _Asked(kind, text, origin, judged)


def _schema_report(asked: _Asked, options: dict[str, Any]) -> dict[str, Any]:
    recorder = Recorder()
    _, certificate = compile_json_schema(asked.text, **options, recorder=recorder)
    report: dict[str, Any] = {"usable": True, **_certificate(certificate)}
    report |= asdict(recorder.coverage)
    if any(entry["status"] == "refused" for entry in report["keywords"]):
        return {**report, "usable": False}
    compiler = _compiler()
    try:
        compiled = compiler.compile_json_schema(asked.text, **options)
    except (GrammarError, LimitExceededError) as error:
        return {**report, "usable": False, "error": _error(error)}
    if asked.instance is not None:
        mismatch = _mismatch(compiled, asked.instance)
        report["instance"] = {"accepted": mismatch is None}
        if mismatch is not None:
            reason = reason_of_refusal(
                asked.text, asked.instance, mismatch, compiler.compile_json_schema, options
            )
            report["instance"] |= {**asdict(mismatch), "reason": reason}
    return report


def _grammar_report(asked: _Asked) -> dict[str, Any]:
    compiler = _compiler()
    if asked.kind == "regex":
        compiled = compiler.compile_regex(asked.text)
    else:
        compiled = compiler.compile_grammar(asked.text)
    report: dict[str, Any] = {
        "usable": True,
        "warnings": unbounded_places(compiled.grammar, is_pattern=asked.kind == "regex"),
    }
    if asked.instance is not None:
        mismatch = find_mismatch(compiled, asked.instance, is_json=False)
        if mismatch is not None and asked.instance.endswith("\n"):  # as editors end a file
            mismatch = find_mismatch(compiled, asked.instance.removesuffix("\n"), is_json=False)
        report["instance"] = {"accepted": mismatch is None}
        if mismatch is not None:
            report["instance"] |= {**asdict(mismatch), "reason": ""}
    return report


def _compiler() -> GrammarCompiler:
    return GrammarCompiler(byte_tokenizer_info(), cache_enabled=False)


def _error(error: GrammarError | LimitExceededError) -> dict[str, Any]:
    pointer = getattr(error, "pointer", None)
    return {"code": error.code, "message": str(error), "pointer": pointer}


def _certificate(certificate: Certificate) -> dict[str, Any]:
    return {"exact": certificate.exact, "narrowed": certificate.narrowed}


def _mismatch(compiled: CompiledGrammar, text: str) -> Mismatch | None:
    """Return where an instance leaves the language, counted in the file as it is."""
    body = text.strip(_WHITESPACE)
    found = find_mismatch(compiled, body)
    if found is None:
        return None
    before = text[: len(text) - len(text.lstrip(_WHITESPACE))]
    lines = before.count("\n")
    margin = len(before) - (before.rfind("\n") + 1)
    return Mismatch(
        found.offset + len(before),
        found.line + lines,
        found.column + (margin if found.line == 1 else 0),
        found.pointer,
        found.found,
        found.expected,
    )


def _text(report: dict[str, Any], asked: _Asked) -> str:
    lines = [f"{asked.origin}: {'usable' if report['usable'] else 'NOT usable'}"]
    if "error" in report:
        lines.append(f"  {report['error']['message']}")
    lines += [f"  narrowed: {entry}" for entry in report.get("narrowed", ())]
    if "error" in report:
        return "\n".join(lines)
    if "keywords" in report:
        lines += _keyword_lines(report["keywords"])
    warnings = report["warnings"]
    if warnings:
        lines.append("answers may run to the token limit:")
        lines += [f"  {entry['pointer']}  {entry['reason']}" for entry in warnings]
    if "instance" in report:
        lines += _instance_lines(report["instance"])
    return "\n".join(lines)


def _keyword_lines(keywords: list[dict[str, Any]]) -> list[str]:
    enforced = sum(entry["status"] == "enforced" for entry in keywords)
    lines = [f"keywords: {enforced} of {len(keywords)} enforced as written"]
    return lines + [
        f"  {entry['status']:8}  {entry['pointer']}  {_as_option(entry['reason'])}"
        for entry in keywords
        if entry["status"] != "enforced"
    ]


def _as_option(reason: str) -> str:
    for name, option in _OPTIONS.items():
        reason = reason.replace(name, option)
    return reason


def _instance_lines(instance: dict[str, Any]) -> list[str]:
    if instance["accepted"]:
        return ["instance: accepted"]
    place = f"line {instance['line']}, column {instance['column']}"
    if instance["pointer"] is not None:
        place += f", at {instance['pointer']}"
    found = json.dumps(instance["found"], ensure_ascii=False) if instance["found"] else "the end"
    lines = [f"instance: NOT accepted; {place}: found {found}"]
    if instance["reason"]:
        lines.append(f"  {instance['reason']}")
    if instance["expected"]:
        lines.append("  could have been:")
        lines += [f"    {text}" for text in instance["expected"]]
    return lines
