"""``maskwright check``: what becomes of a schema, and where an instance leaves it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from maskwright.cli import exit_codes
from maskwright.cli.errors import UsageError, quoted
from maskwright.cli.formats import read_text
from maskwright.cli.refused_member import reason_of_refusal
from maskwright.compiler import GrammarCompiler
from maskwright.errors import GrammarError, GrammarSyntaxError, LimitExceededError
from maskwright.explanation import Mismatch, byte_tokenizer_info, find_mismatch
from maskwright.frontends.json_schema import compile_json_schema
from maskwright.frontends.json_schema.coverage import Recorder

if TYPE_CHECKING:
    from argparse import Namespace

    from maskwright.certificate import Certificate

_WHITESPACE = " \t\n\r"


def run_check(arguments: Namespace) -> int:
    """Run the command; see `maskwright check --help`."""
    text = read_text(arguments.schema, "SCHEMA")
    options = _options(arguments)
    recorder = Recorder()
    compiler = GrammarCompiler(byte_tokenizer_info(), cache_enabled=False)
    report: dict[str, Any] = {"schema": arguments.schema}
    code = exit_codes.OK
    mismatch: Mismatch | None = None
    try:
        _, certificate = compile_json_schema(text, **options, recorder=recorder)
        report |= {"usable": True, **_certificate(certificate)}
        report |= asdict(recorder.coverage)
        if not any(entry["status"] == "refused" for entry in report["keywords"]):
            compiled = compiler.compile_json_schema(text, **options)
            if arguments.instance is not None:
                instance = read_text(arguments.instance, "INSTANCE")
                mismatch = _mismatch(compiled, instance)
                report["instance"] = {"accepted": mismatch is None}
                if mismatch is not None:
                    reason = reason_of_refusal(
                        text, instance, mismatch, compiler.compile_json_schema, options
                    )
                    report["instance"] |= {**asdict(mismatch), "reason": reason}
                    code = exit_codes.RUNTIME_ERROR
        else:
            report["usable"] = False
    except GrammarSyntaxError as error:
        raise UsageError(f"{arguments.schema}: {error}") from error
    except (GrammarError, LimitExceededError) as error:
        report |= {"usable": False, "error": _error(error)}
    if not report["usable"]:
        code = exit_codes.USAGE_ERROR
    print(json.dumps(report, ensure_ascii=False) if arguments.json else _text(report))
    return code


def _options(arguments: Namespace) -> dict[str, Any]:
    registry: dict[str, str] = {}
    for entry in arguments.registry:
        uri, separator, name = entry.rpartition("=")
        if not separator:
            raise UsageError(f"--registry is {quoted(entry)}; expected URI=FILE")
        registry[uri] = read_text(name, "the file of --registry")
    return {
        "strict_mode": not arguments.open,
        "any_order": arguments.any_order,
        "number_spelling": arguments.number_spelling,
        "assert_format": not arguments.annotate_format,
        "nullable": arguments.nullable,
        "dialect": arguments.dialect,
        "registry": registry,
    }


def _error(error: GrammarError | LimitExceededError) -> dict[str, Any]:
    pointer = getattr(error, "pointer", None)
    return {"code": error.code, "message": str(error), "pointer": pointer}


def _certificate(certificate: Certificate) -> dict[str, Any]:
    return {"exact": certificate.exact, "narrowed": certificate.narrowed}


def _mismatch(compiled: Any, text: str) -> Mismatch | None:
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


def _text(report: dict[str, Any]) -> str:
    lines = [f"{report['schema']}: {'usable' if report['usable'] else 'NOT usable'}"]
    if "error" in report:
        lines.append(f"  {report['error']['message']}")
    lines += [f"  narrowed: {entry}" for entry in report.get("narrowed", ())]
    if "error" in report:
        return "\n".join(lines)
    keywords = report.get("keywords", ())
    enforced = sum(entry["status"] == "enforced" for entry in keywords)
    lines.append(f"keywords: {enforced} of {len(keywords)} enforced as written")
    for entry in keywords:
        if entry["status"] != "enforced":
            lines.append(f"  {entry['status']:8}  {entry['pointer']}  {entry['reason']}")
    warnings = report.get("warnings", ())
    if warnings:
        lines.append("answers may run to the token limit:")
        lines += [f"  {entry['pointer']}  {entry['reason']}" for entry in warnings]
    if "instance" in report:
        lines += _instance_lines(report["instance"])
    return "\n".join(lines)


def _instance_lines(instance: dict[str, Any]) -> list[str]:
    if instance["accepted"]:
        return ["instance: accepted"]
    place = f"line {instance['line']}, column {instance['column']}, at {instance['pointer']}"
    found = json.dumps(instance["found"], ensure_ascii=False) if instance["found"] else "the end"
    lines = [f"instance: NOT accepted; {place}: found {found}"]
    if instance["reason"]:
        lines.append(f"  {instance['reason']}")
    if instance["expected"]:
        lines.append("  could have been:")
        lines += [f"    {text}" for text in instance["expected"]]
    return lines
