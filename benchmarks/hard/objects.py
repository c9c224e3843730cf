"""Objects: thousands of optional members, and a large real-world shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.hard.case import case, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.hard.case import Case

SCALARS: tuple[dict[str, Any], ...] = (
    {"type": "string"},
    {"type": "integer", "minimum": 0},
    {"type": "boolean"},
    {"type": "array", "items": {"type": "string"}},
)


def optional_members(count: int, *, closed: bool) -> dict[str, Any]:
    """Return an object schema whose members are all optional."""
    properties = {f"option_{k}": SCALARS[k % len(SCALARS)] for k in range(count)}
    return {"type": "object", "properties": properties, "additionalProperties": not closed}


def values(count: int, step: int) -> dict[str, Any]:
    """Return every `step`-th member with a value."""
    return {
        f"option_{k}": ("text", 3, False, ["a"])[k % len(SCALARS)] for k in range(0, count, step)
    }


def cluster_schema(kinds: int = 160) -> dict[str, Any]:
    """Return a schema of the size and shape of a container platform's: many definitions that refer
    to each other, long descriptions, maps of strings, values that are a number or a string."""
    about = "Describes one aspect of the desired state; see the reference for its default and use."
    definitions: dict[str, Any] = {
        "quantity": {"anyOf": [{"type": "string", "pattern": "^[0-9]+(m|Ki|Mi|Gi)?$"}]},
        "labels": {"type": ["object", "null"], "additionalProperties": {"type": "string"}},
    }
    definitions["quantity"]["anyOf"].append({"type": "integer"})
    for k in range(kinds):
        members: dict[str, Any] = {
            "name": {"type": "string", "minLength": 1, "maxLength": 253, "description": about},
            "labels": {"$ref": "#/definitions/labels", "description": about},
            "limit": {"$ref": "#/definitions/quantity"},
            "mode": {"enum": ["Always", "IfNotPresent", "Never"], "description": about},
            "replicas": {"type": ["integer", "null"], "format": "int32"},
            "items": {"type": "array", "items": {"$ref": f"#/definitions/kind_{(k * 7) % kinds}"}},
            "spec": {"$ref": f"#/definitions/kind_{(k + 1) % kinds}", "description": about},
        }
        definitions[f"kind_{k}"] = {
            "type": "object",
            "description": about,
            "properties": members,
            "required": ["name"],
            "additionalProperties": False,
        }
    return {"$ref": "#/definitions/kind_0", "definitions": definitions}


def cases() -> Iterator[Case]:
    """Yield the inputs of this family."""
    for count in (300, 3000):
        for closed in (True, False):
            other = {"unknown": 1}
            some = values(count, 10)
            wrong = [quoted({**some, "option_1": "text"})]
            wrong += [quoted({**some, **other})] if closed else []
            yield case(
                f"objects/{count} optional, {'closed' if closed else 'open'}",
                optional_members(count, closed=closed),
                [quoted(some), quoted(dict(reversed(some.items()))), "{}"],
                wrong,
            )
    schema = cluster_schema()
    value: dict[str, Any] = {"name": "web", "labels": {"app": "a", "tier": "b"}, "limit": "500m"}
    for _ in range(5):
        value = {"name": "set", "mode": "Always", "limit": 3, "spec": value, "items": [value]}
    broken = {**value, "mode": "Sometimes"}
    yield case(
        f"objects/cluster schema of {len(quoted(schema)) // 1000} kB",
        schema,
        [quoted(value)],
        [quoted(broken), quoted({**value, "kind": "x"}), '{"mode": "Always"}'],
    )
    names = [f"key_{k}" for k in range(300)]
    yield case(
        "objects/300 required of any value",
        {"type": "object", "required": names},
        [quoted(dict.fromkeys(reversed(names), 1))],
        [quoted(dict.fromkeys(names[1:], 1))],
    )
