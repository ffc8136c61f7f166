"""The classes of changes, and whom they concern, in the words that staff read."""

from collections.abc import Mapping

from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy, pgettext_lazy

from sezzlee_mcp.catalog.changes import ChangeClass, Side

CLASSES = {
    ChangeClass.BREAKING: pgettext_lazy("class of a change", "breaking"),
    ChangeClass.BEHAVIOURAL: pgettext_lazy("class of a change", "behavioural"),
    ChangeClass.ADDITIVE: pgettext_lazy("class of a change", "additive"),
}
SIDES = {
    Side.OLD_AGENT: gettext_lazy("an agent that learned the old catalog, on the new server"),
    Side.NEW_AGENT: gettext_lazy("an agent that learned the new catalog, on the old server"),
}


def marks(counts: Mapping[str, int]) -> SafeString:
    """How many changes there are of each class that has any."""
    found = [
        {"class": each.value, "label": label, "number": counts[each.value]}
        for each, label in CLASSES.items()
        if counts[each.value]
    ]
    return render_to_string("admin/sezzlee_mcp/marks.html", {"marks": found})
