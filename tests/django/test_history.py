"""A record keeps the worst of each tool, so that no tool's many changes hide that another changed."""

from sezzlee_mcp.catalog.changes import Change
from sezzlee_mcp.history import ENTRIES, Record


def change(tool: str, kind: str, name: str = "x") -> Change:
    return Change(tool=tool, kind=kind, name=name)


def test_record_of_few_changes_keeps_all_in_their_order() -> None:
    changes = (change("b", "input_removed"), change("a", "tool_added"), change("b", "text_changed"))
    record = Record.of(changes)

    assert record.entries == changes
    assert record.counts == {"breaking": 1, "behavioural": 1, "additive": 1}
    assert record.of_tools == {
        "b": {"breaking": 1, "behavioural": 1, "additive": 0},
        "a": {"breaking": 0, "behavioural": 0, "additive": 1},
    }
    assert record.left_out == 0
    assert Record.from_json(record.to_json()) == record


def test_many_changes_of_one_tool_leave_room_for_those_of_others() -> None:
    many = tuple(change("many", "input_removed", str(number)) for number in range(2 * ENTRIES))
    record = Record.of((*many, change("few", "text_changed")))

    assert record.entries == (*many[: ENTRIES - 1], change("few", "text_changed"))
    assert record.of_tools["many"] == {"breaking": 2 * ENTRIES, "behavioural": 0, "additive": 0}
    assert record.left_out == 0


def test_of_more_tools_than_entries_the_worst_are_kept_and_the_rest_is_counted() -> None:
    removed = tuple(change(f"gone{number}", "tool_removed") for number in range(ENTRIES - 1))
    added = tuple(change(f"new{number}", "tool_added") for number in range(3))
    record = Record.of((*removed, *added))

    assert record.entries == (*removed, added[0])
    assert record.left_out == 2
