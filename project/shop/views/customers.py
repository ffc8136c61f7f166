from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import viewsets
from rest_framework.permissions import IsAuthenticated
from rest_framework.serializers import BaseSerializer

from project.shop.models import Customer, Note
from project.shop.permissions import IsAuthorOrReadOnly, ModelPermissions
from project.shop.serializers import CustomerSerializer, NoteSerializer
from project.shop.views.shared import KeepsOrdered, ordering, search


@extend_schema_view(
    list=extend_schema(
        summary="List customers",
        description="Finds customers by name, e-mail address or city, one page at a time.",
        parameters=[search("name, e-mail address or city"), ordering("name", "created_at")],
    ),
    retrieve=extend_schema(summary="Get a customer", description="Fetches one customer by id."),
    create=extend_schema(summary="Add a customer", description="Adds a customer, who can then be ordered for."),
    update=extend_schema(summary="Replace a customer", description="Replaces all data of a customer."),
    partial_update=extend_schema(summary="Change a customer", description="Changes only the given data of a customer."),
    destroy=extend_schema(
        summary="Delete a customer", description="Deletes a customer and the notes about them, not one with orders."
    ),
)
class CustomerViewSet(KeepsOrdered, viewsets.ModelViewSet):
    queryset = Customer.objects.all()
    serializer_class = CustomerSerializer
    permission_classes = [ModelPermissions]
    filterset_fields = ["city"]
    search_fields = ["name", "email", "city"]
    ordering_fields = ["name", "created_at"]


@extend_schema_view(
    list=extend_schema(
        summary="List notes",
        description="Lists what colleagues noted about customers, newest first.",
        parameters=[search("the text of the note"), ordering("created_at")],
    ),
    retrieve=extend_schema(summary="Get a note", description="Fetches one note by id."),
    create=extend_schema(summary="Write a note", description="Writes a note about a customer, in your name."),
    update=extend_schema(summary="Replace a note", description="Replaces a note that you wrote yourself."),
    partial_update=extend_schema(summary="Change a note", description="Changes a note that you wrote yourself."),
    destroy=extend_schema(summary="Delete a note", description="Deletes a note that you wrote yourself."),
)
class NoteViewSet(viewsets.ModelViewSet):
    queryset = Note.objects.select_related("author")
    serializer_class = NoteSerializer
    permission_classes = [IsAuthenticated, IsAuthorOrReadOnly]
    filterset_fields = ["customer"]
    search_fields = ["text"]
    ordering_fields = ["created_at"]

    def perform_create(self, serializer: BaseSerializer) -> None:
        serializer.save(author=self.request.user)
