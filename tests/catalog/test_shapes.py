from sezzlee_mcp.catalog.shapes import objects_in

SITE = {"type": "object", "properties": {"name": {"type": "string"}}}
DEFINITIONS = {"Site": SITE, "Loop": {"anyOf": [{"$ref": "#/$defs/Loop"}, {"$ref": "#/$defs/Site"}]}}


def test_objects_are_found_alone_and_in_lists_once_and_no_deeper():
    rack = {"type": "object", "properties": {"site": {"$ref": "#/$defs/Site"}}}
    site = {"$ref": "#/$defs/Site"}
    either = {"oneOf": [site, {"type": "array", "items": site}, rack, {"type": "string"}]}

    assert list(objects_in(either, DEFINITIONS)) == [SITE, rack]


def test_what_leads_to_itself_ends():
    assert list(objects_in({"$ref": "#/$defs/Loop"}, DEFINITIONS)) == [SITE]


def test_what_is_no_object_holds_none():
    assert [list(objects_in(each, {})) for each in (None, True, {}, {"type": "array"}, {"items": True})] == [[]] * 5
