"""``maskwright check``: coverage of a schema, and where an instance leaves it."""

from __future__ import annotations

import json

import pytest

from maskwright.cli import main

SCHEMA = {
    "title": "Person",
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 5},
        "host": {"format": "hostname", "type": "string"},
        "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}},
        "next": {"$ref": "#"},
    },
    "required": ["name", "tags"],
}


@pytest.fixture
def check(tmp_path, capsys):
    def run(schema, instance=None, *options):
        names = []
        for name, content in (("schema.json", schema), ("instance.json", instance)):
            if content is not None:
                text = content if isinstance(content, str) else json.dumps(content)
                (tmp_path / name).write_text(text, encoding="utf-8")
                names.append(str(tmp_path / name))
        code = main(["check", *names, *options])
        return code, capsys.readouterr()

    return run


def report(check, schema, instance=None, *options):
    code, captured = check(schema, instance, "--json", *options)
    assert captured.err == ""
    return code, json.loads(captured.out)


def test_what_the_engine_refuses_is_said_with_its_place(check):
    code, found = report(check, {"properties": {"a": {"not": {"uniqueItems": True}}}})
    assert (code, found["usable"]) == (2, False)
    assert found["error"]["code"] == "json-unsupported-keyword"
    assert found["error"]["message"].endswith("drop it there: at #/properties/a/not/uniqueItems")
    code, found = report(
        check, {"type": "object", "required": ["a"], "properties": {"a": {"enum": []}}}
    )
    assert code == 2
    assert found["error"]["code"] == "schema-unsatisfiable"
    assert "the schema at #/properties/a/enum" in found["error"]["message"]


def test_coverage_of_every_keyword(check):
    code, found = report(check, SCHEMA)
    assert code == 0
    status = {entry["pointer"]: entry["status"] for entry in found["keywords"]}
    assert status["#/title"] == "ignored"
    assert status["#/properties"] == "narrowed"
    assert status["#/properties/host/format"] == "narrowed"
    assert status["#/properties/name/maxLength"] == "enforced"
    assert status["#/properties/next/$ref"] == "enforced"
    assert len(status) == len(found["keywords"]) == 12
    _, found = report(check, SCHEMA, None, "--open", "--any-order", "--annotate-format")
    status = {entry["pointer"]: entry["status"] for entry in found["keywords"]}
    assert status["#/properties"] == "enforced"
    assert status["#/properties/host/format"] == "ignored"


def test_what_has_no_bound(check):
    schema = {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "list": {"type": ["array", "null"]},
            "map": {"type": "object"},
            "count": {"type": "integer", "minimum": 0},
            "share": {"type": "number", "minimum": 0, "maximum": 1},
            "any": {},
            "short": {"type": "string", "maxLength": 3},
            "pair": {"type": "array", "prefixItems": [{"const": 1}], "items": False},
            "self": {"$ref": "#"},
        },
    }
    _, found = report(check, schema)
    warnings = {
        (entry["pointer"].rpartition("/")[2], entry["reason"]) for entry in found["warnings"]
    }
    assert warnings == {
        ("text", "strings have no maxLength"),
        ("list", "arrays have no maxItems"),
        ("map", "objects admit any number of other members"),
        ("count", "numbers may have any number of digits, whatever their bounds"),
        ("share", "numbers may have any number of digits, whatever their bounds"),
        ("any", "any value is admitted, of any length"),
        ("self", "values can be nested without bound"),
    }


def test_all_refusals_are_told(check):
    schema = {"items": {"divisibleBy": 2}, "extends": {}, "type": "array"}
    code, found = report(check, schema)
    refused = {e["pointer"] for e in found["keywords"] if e["status"] == "refused"}
    assert (code, found["usable"]) == (2, False)
    assert refused == {"#/items/divisibleBy", "#/extends"}


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": 5}, "the number 5 at #/type"),
        ({"$ref": "#/nowhere"}, "cannot be resolved"),
        (False, "no "),
    ],
)
def test_schemas_that_cannot_be_used(check, schema, said):
    code, captured = check(schema)
    assert code == 2
    assert "NOT usable" in captured.out
    assert said in captured.out


def test_a_schema_that_is_no_json(check):
    code, captured = check("{,}")
    assert (code, captured.out) == (2, "")
    assert 'expected a key in double quotes, found ","' in captured.err
    assert "^" in captured.err


def test_an_instance_that_is_accepted(check):
    code, captured = check(SCHEMA, '\n{"name": "a", "tags": ["red"]}\n')
    assert code == 0
    assert captured.out.endswith("instance: accepted\n")


def test_an_empty_member_name_is_a_place(check):
    _, result = report(check, {"properties": {"": {"type": "string"}}}, '{"": 5}')
    assert result["instance"]["pointer"] == "#/"


@pytest.mark.parametrize(
    ("instance", "place", "found", "expected"),
    [
        ('{"name": "a",\n "tags": ["red", "bleu"]}', (2, 21, "#/tags/1"), 'eu"]}', ['ue"']),
        ('{"tags": []}', (1, 3, "#"), 'tags": []}', ['name"']),
        ('{"name": "a", "tags": [""]}', (1, 25, "#/tags/0"), '"]}', ['red"', 'blue"', 'green"']),
        ('{"name": "a", "tags": 5}', (1, 23, "#/tags"), "5}", ["["]),
        ('{"name": "a", "tags": []', (1, 25, "#/tags"), "", [",", "}"]),
        ('  {"name": "abcdef"}', (1, 18, "#/name"), 'f"}', ['"']),
        ('{"name": "a", "tags": []} x', (1, 26, "#"), " x", ["the end of the text"]),
        ('{"name": "\u00e9", "tags": \u00e9}', (1, 23, "#/tags"), "\u00e9}", ["["]),
    ],
)
def test_where_an_instance_leaves_the_schema(check, instance, place, found, expected):
    code, result = report(check, SCHEMA, instance, "--any-whitespace")
    instance = result["instance"]
    assert code == 1
    assert not instance["accepted"]
    assert (instance["line"], instance["column"], instance["pointer"]) == place
    assert instance["found"] == found
    assert instance["expected"] == expected


MEMBERS = {
    "type": "object",
    "properties": {
        "a": {"type": "integer"},
        "n": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"q/": {"type": "string"}},
                "additionalProperties": False,
            },
        },
        "p": {"type": "object", "propertyNames": {"maxLength": 1}, "additionalProperties": True},
    },
}
STRICT = (
    "and strict mode admits no others; declare it, or admit others with "
    '"additionalProperties": true or --open'
)


@pytest.mark.parametrize(
    ("instance", "reason"),
    [
        ('{"a": 1, "b": 2}', f'"properties" does not declare the member "b", {STRICT}'),
        ('\n  { "b\u00e9" : 2}', f'"properties" does not declare the member "b\u00e9", {STRICT}'),
        ('{"p": {}, "b": 2}', f'"properties" does not declare the member "b", {STRICT}'),
        (f'{{"{"b" * 99}": 2}}', f'does not declare the member "{"b" * 60}...", {STRICT}'),
        (
            '{"n": [{}, {"z": 2}]}',
            (
                '"properties" does not declare the member "z", and "additionalProperties" at '
                "#/properties/n/items/additionalProperties admits no others"
            ),
        ),
        (
            '{"n": [], "a": 1}',
            (
                'the member "a" is not the next one in the order that "properties" declares; '
                "--any-order lifts that"
            ),
        ),
        ('{"a": 1, "a": 1}', 'the member "a" stands there twice'),
        ('{"p": {"x": 1, "xyz": 2}}', 'no member "xyz" is admitted there'),
        ('{"a": "b"}', ""),
        ('{"a": 1', ""),
        ('{"a": 1, "', ""),
        ('{"a": 1,, "b": 2}', ""),
        ('{"n": ["b", {"c": 1}]}', ""),
        ('{"a" 1}', ""),
        ("5", ""),
    ],
)
def test_why_a_member_is_refused(check, instance, reason):
    code, result = report(check, MEMBERS, instance, "--any-whitespace")
    assert code == 1
    if reason.startswith("does not"):
        assert result["instance"]["reason"].endswith(reason)
    else:
        assert result["instance"]["reason"] == reason
    _, captured = check(MEMBERS, instance, "--any-whitespace")
    assert (f"\n  {result['instance']['reason']}\n" in captured.out) == bool(reason)


def test_with_the_options_that_lift_it_the_member_is_not_refused(check):
    assert check(MEMBERS, '{"b": 2, "n": []}', "--open", "--any-order")[0] == 0
    _, result = report(check, MEMBERS, '{"n": [{"z": 1}]}', "--open", "--any-order")
    assert "#/properties/n/items/additionalProperties" in result["instance"]["reason"]


def test_what_a_schema_cannot_have_is_named_with_its_keyword(check):
    schema = {"type": "object", "properties": {"a": {}}, "required": ["b"]}
    code, result = report(check, schema)
    assert (code, result["error"]["pointer"]) == (2, "#/required")
    assert '"required" asks for the member "b", which "properties" does not' in check(schema)[1].out


def test_the_report_on_an_instance_in_words(check):
    code, captured = check(SCHEMA, '{"name": "a", "tags": [1]}')
    assert code == 1
    assert (
        'instance: NOT accepted; line 1, column 24, at #/tags/0: found "1]}"\n  could have been:\n'
    ) in captured.out


def test_options_and_registry(check, tmp_path):
    other = tmp_path / "other.json"
    other.write_text('{"type": "null"}')
    schema = {"$ref": "http://x.test/a=b"}
    code, captured = check(schema, "null", "--registry", f"http://x.test/a=b={other}")
    assert (code, captured.out.splitlines()[-1]) == (0, "instance: accepted")
    code, captured = check(schema, None, "--registry", "nothing")
    assert code == 2
    assert "expected URI=FILE" in captured.err
    nullable = {"type": "string", "nullable": True}
    assert check(nullable, "null")[0] == 1
    assert check(nullable, "null", "--nullable")[0] == 0
    assert check({"type": "integer"}, "150.0E-1", "--number-spelling", "any")[0] == 0
    assert check({"type": "integer"}, "15.0")[0] == 1
    assert check({"type": "integer"}, "15.0", "--number-spelling", "decimal")[0] == 1
    assert check({"type": "number"}, "15.0", "--number-spelling", "decimal")[0] == 0
    assert check({"type": "number"}, "15.0", "--number-spelling", "plain")[0] == 1
    assert check({"items": [{"type": "null"}]}, "[1]", "--dialect", "draft2020-12")[0] == 2


def test_files_that_cannot_be_read(check, tmp_path):
    code, captured = check({}, None, "--registry", f"urn:a={tmp_path / 'none.json'}")
    assert code == 2
    assert "cannot read" in captured.err


def test_options_are_named_as_on_the_command_line(check):
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}}
    text = check(schema)[1].out
    for option in ("--any-order", "--open", "--number-spelling any"):
        assert f"({option} lifts it)" in text
    assert "strict_mode=" not in text
    assert "number_spelling=" not in text
    options = ("--any-order", "--open", "--number-spelling", "any")
    assert "lifts it" not in check(schema, None, *options)[1].out
