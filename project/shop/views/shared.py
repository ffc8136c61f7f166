from django.db.models import Model, ProtectedError
from drf_spectacular.utils import OpenApiParameter

from project.shop.exceptions import StillOrdered


def search(where: str) -> OpenApiParameter:
    return OpenApiParameter("search", str, description=f"Words that must all occur in {where}.")


def ordering(*fields: str) -> OpenApiParameter:
    choices = ", ".join(fields)
    return OpenApiParameter("ordering", str, description=f"Sort by {choices}; a leading minus sorts downwards.")


class KeepsOrdered:
    """What orders point to is not deleted: that answers 409."""

    def perform_destroy(self, instance: Model) -> None:
        try:
            instance.delete()
        except ProtectedError as error:
            raise StillOrdered from error
