"""What one schema permits and another refuses: nothing of it is missed, and what only reads otherwise is none."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from sezzlee_mcp.catalog.containment import compare

NAMES = ("a", "b", "c")
VALUES = st.sampled_from([None, True, False, -1, 0, 1, 1.0, 1.5, 2, 6, "", "a", "b", "ab", "abc", [], {}])
COUNTS = st.integers(0, 3)


def maybe(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=members)


def schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas of few words, so that two of them have something to do with each other."""
    lists = st.lists(inner, min_size=1, max_size=2)
    # An object that names members says whether there are others: the one thing that is not read as JSON Schema does.
    members = st.fixed_dictionaries(
        {"properties": st.dictionaries(st.sampled_from(NAMES), inner, max_size=2), "additionalProperties": inner},
        optional={
            "required": st.lists(st.sampled_from(NAMES), unique=True, max_size=2),
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$", "."]), inner, max_size=1),
            "dependentRequired": st.dictionaries(
                st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), unique=True), max_size=1
            ),
            "minProperties": COUNTS,
            "maxProperties": COUNTS,
            "propertyNames": inner,
        },
    )
    return st.one_of(
        maybe(
            minimum=st.integers(-1, 2),
            maximum=st.integers(-1, 2),
            exclusiveMinimum=st.integers(-1, 2),
            exclusiveMaximum=st.integers(-1, 2),
            multipleOf=st.sampled_from([1, 2, 3, 6]),
        ),
        maybe(minLength=COUNTS, maxLength=COUNTS, pattern=st.sampled_from(["^a", "b$", "."])),
        maybe(
            items=inner, prefixItems=lists, minItems=COUNTS, maxItems=COUNTS, uniqueItems=st.booleans(), contains=inner
        ),
        members,
        maybe(anyOf=lists, oneOf=lists, allOf=lists),
        st.fixed_dictionaries({"not": inner}),
        st.fixed_dictionaries({"if": inner, "then": inner}, optional={"else": inner}),
        st.fixed_dictionaries({"$ref": st.sampled_from(["#/$defs/A", "#/$defs/B"])}),
    )


def _laid_over(parts: tuple[Any, Any]) -> Any:
    typed, more = parts
    return {**typed, **more} if isinstance(typed, dict) else more


TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])
TYPED = st.one_of(
    st.booleans(),
    maybe(type=TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True)),
    st.fixed_dictionaries({"enum": st.lists(VALUES, min_size=1, max_size=3)}, optional={"type": TYPES}),
    st.fixed_dictionaries({"const": VALUES}),
)
SCHEMAS = st.recursive(TYPED, lambda inner: st.tuples(TYPED, schemas(inner)).map(_laid_over), max_leaves=6)


@st.composite
def documents(draw: st.DrawFn) -> tuple[Any, Any]:
    """Two schemas with definitions, the second an edit of the first more often than not."""
    old, new, first, second = (draw(SCHEMAS) for _ in range(4))
    below = st.sampled_from(["properties", "items", "anyOf"])
    definitions = [{"A": first, "B": second}, {"A": draw(st.just(first) | SCHEMAS), "B": second}]
    shared = draw(below)
    wrapped = [_wrapped(shared, schema) for schema in (old, draw(st.just(old) | st.just(new)))]
    return tuple({**schema, "$defs": bag} for schema, bag in zip(wrapped, definitions, strict=True))  # type: ignore[return-value]


def _wrapped(keyword: str, schema: Any) -> dict[str, Any]:
    if keyword == "properties":
        return {"properties": {"a": schema}, "additionalProperties": False}
    return {keyword: [schema, {"type": "string"}] if keyword == "anyOf" else schema}


INSTANCES = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*NAMES, "ab"]), inner, max_size=3),
    max_leaves=5,
)


IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")


def is_founded(document: dict[str, Any], schema: Any = None, passed: tuple[str, ...] = ()) -> bool:
    """Whether no schema says of a value what it says of itself, which would describe nothing."""
    if schema is None:
        return all(is_founded(document, {"$ref": f"#/$defs/{name}"}) for name in document["$defs"])
    if not isinstance(schema, dict):
        return True
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    if name and (name in passed or not is_founded(document, document["$defs"][name], (*passed, name))):
        return False
    inner = [schema[keyword] for keyword in IN_PLACE if keyword in schema]
    listed = [item for each in inner for item in (each if isinstance(each, list) else [each])]
    return all(is_founded(document, item, passed) for item in listed)


FOUNDED = documents().filter(lambda pair: all(map(is_founded, pair)))


def accepts(schema: Any, value: Any) -> bool:
    return bool(Draft202012Validator(schema).is_valid(value))


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(FOUNDED, st.lists(INSTANCES, min_size=5, max_size=10))
def test_what_was_taken_and_is_refused_is_always_found(pair: tuple[Any, Any], values: list[Any]) -> None:
    old, new = pair
    refused = [value for value in values if accepts(old, value) and not accepts(new, value)]

    assert not refused or compare(old, new).misfits


@settings(max_examples=50, suppress_health_check=list(HealthCheck))
@given(FOUNDED)
def test_a_schema_that_is_only_worded_otherwise_takes_the_same(pair: tuple[Any, Any]) -> None:
    old, _new = pair

    assert compare(old, {**old, "description": "Other words.", "title": "Other"}).misfits == ()
