import pytest

from sezzlee_mcp.errors import CallError
from sezzlee_mcp.invoke.arguments import SAFE_INTEGER, element_texts, kind_of, number_text, refuse, scalar_text


@pytest.mark.parametrize(
    ("type", "value", "text"),
    [
        ("string", "", ""),
        ("string", "3", "3"),
        ("string", "null", "null"),
        ("string", "ı ß 😀\n", "ı ß 😀\n"),
        ("integer", 0, "0"),
        ("integer", -7, "-7"),
        ("integer", 1.0, "1"),
        ("integer", -0.0, "0"),
        ("integer", SAFE_INTEGER, "9007199254740991"),
        ("integer", -SAFE_INTEGER, "-9007199254740991"),
        ("integer", float(SAFE_INTEGER), "9007199254740991"),
        ("number", 3, "3"),
        ("number", 1.50, "1.5"),
        ("number", 10.0, "10"),
        ("number", 2**60, "1152921504606846976"),
        ("boolean", True, "true"),
        ("boolean", False, "false"),
        ("any", "x", "x"),
        ("any", 2.0, "2"),
        ("any", True, "true"),
    ],
)
def test_scalar_of_the_slots_type_is_written_in_its_shortest_form(type, value, text):
    assert scalar_text("a", type, value, refuse) == text


@pytest.mark.parametrize(
    ("type", "value", "code", "message"),
    [
        ("string", 3, "invalid_type", "Argument 'a' must be a string, not a number."),
        ("string", True, "invalid_type", "Argument 'a' must be a string, not a boolean."),
        ("string", ["x"], "invalid_type", "Argument 'a' must be a string, not an array."),
        ("string", {"x": 1}, "invalid_type", "Argument 'a' must be a string, not an object."),
        ("string", "\ud800", "invalid_type", "Argument 'a' must be a string, not text with half of a surrogate pair."),
        ("integer", "3", "invalid_type", "Argument 'a' must be an integer, not a string."),
        ("integer", True, "invalid_type", "Argument 'a' must be an integer, not a boolean."),
        ("integer", 1.5, "invalid_type", "Argument 'a' must be an integer, not a fraction."),
        ("integer", float("inf"), "invalid_type", "Argument 'a' must be an integer, not a number beyond all bounds."),
        ("integer", float("nan"), "invalid_type", "Argument 'a' must be an integer, not a number beyond all bounds."),
        ("integer", 10**400, "invalid_type", "Argument 'a' must be an integer, not a number beyond all bounds."),
        (
            "integer",
            SAFE_INTEGER + 1,
            "invalid_type",
            "Argument 'a' must be an integer between -9007199254740991 and 9007199254740991, not a larger one.",
        ),
        (
            "integer",
            -1e300,
            "invalid_type",
            "Argument 'a' must be an integer between -9007199254740991 and 9007199254740991, not a larger one.",
        ),
        ("number", "1.5", "invalid_type", "Argument 'a' must be a number, not a string."),
        ("number", False, "invalid_type", "Argument 'a' must be a number, not a boolean."),
        ("number", float("-inf"), "invalid_type", "Argument 'a' must be a number, not a number beyond all bounds."),
        ("boolean", 1, "invalid_type", "Argument 'a' must be a boolean, not a number."),
        ("boolean", "true", "invalid_type", "Argument 'a' must be a boolean, not a string."),
        ("any", {}, "invalid_type", "Argument 'a' must be a string, a number or a boolean, not an object."),
        (
            "any",
            None,
            "null_not_allowed",
            "Argument 'a' is null, which cannot be written there. Leave it out to send nothing.",
        ),
    ],
)
def test_anything_else_is_refused_with_the_kind_that_arrived(type, value, code, message):
    with pytest.raises(CallError) as raised:
        scalar_text("a", type, value, refuse)
    assert (raised.value.code, raised.value.message, raised.value.retryable) == (code, message, False)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (100000000000000000000.0, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (0.00001, "0.00001"),
        (0.000001, "0.000001"),
        (1e-7, "1e-7"),
        (-1.25e-10, "-1.25e-10"),
        (123456.789, "123456.789"),
        (5e-324, "5e-324"),
    ],
)
def test_number_text_is_that_of_ecmascript(value, text):
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("type", "is_array", "value", "texts"),
    [
        ("string", False, "a,b", ["a,b"]),
        ("string", True, [], []),
        ("integer", True, [1, 2.0], ["1", "2"]),
        ("any", False, ["a", 1], ["a", "1"]),
        ("any", False, [], []),
    ],
)
def test_array_gives_one_text_per_element(type, is_array, value, texts):
    assert element_texts("a", type, is_array, value, refuse) == texts


@pytest.mark.parametrize(
    ("value", "code", "message"),
    [
        (1, "invalid_type", "Argument 'a' must be an array, not a number."),
        ({"0": 1}, "invalid_type", "Argument 'a' must be an array, not an object."),
        ([1, "2"], "invalid_type", "Argument 'a[1]' must be an integer, not a string."),
        ([[1]], "invalid_type", "Argument 'a[0]' must be an integer, not an array."),
        (
            [None],
            "null_not_allowed",
            "Argument 'a[0]' is null, which cannot be written there. Leave it out to send nothing.",
        ),
    ],
)
def test_array_names_the_element_that_does_not_fit(value, code, message):
    with pytest.raises(CallError) as raised:
        element_texts("a", "integer", True, value, refuse)
    assert (raised.value.code, raised.value.message) == (code, message)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (True, "a boolean"),
        (0, "a number"),
        (0.5, "a number"),
        ("", "a string"),
        ([], "an array"),
        ({}, "an object"),
    ],
)
def test_kind_of_a_json_value(value, kind):
    assert kind_of(value) == kind
