"""What comes as something else than JSON: documents, forms and text."""

from typing import Any

from django.db import transaction
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, viewsets
from rest_framework.decorators import action, api_view, parser_classes, permission_classes
from rest_framework.exceptions import NotFound
from rest_framework.generics import get_object_or_404
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer, ValidationError
from rest_framework.views import APIView

from project.shop.models import AuditEntry, Document, Note, Order, Product
from project.shop.parsers import PlainTextParser
from project.shop.permissions import IsOrderClerk
from project.shop.serializers import (
    CallbackSerializer,
    ComplaintSerializer,
    DocumentSerializer,
    NoteSerializer,
    ProductSerializer,
    ReturnSerializer,
)
from project.shop.views.shared import ordering, search


@extend_schema_view(
    list=extend_schema(
        summary="List documents",
        description="Lists the documents of customers, newest first; their content is fetched one by one.",
        parameters=[search("the title"), ordering("created_at")],
    ),
    create=extend_schema(
        summary="File a document",
        description="Files a document of a customer: the scan as a file, or only that the paper exists.",
    ),
    destroy=extend_schema(summary="Delete a document", description="Deletes a document and its file for good."),
)
class DocumentViewSet(
    mixins.ListModelMixin, mixins.CreateModelMixin, mixins.DestroyModelMixin, viewsets.GenericViewSet
):
    queryset = Document.objects.select_related("filed_by")
    serializer_class = DocumentSerializer
    permission_classes = [IsOrderClerk]
    parser_classes = [JSONParser, MultiPartParser]
    filterset_fields = ["customer", "is_signed"]
    search_fields = ["title"]
    ordering_fields = ["created_at"]

    def perform_create(self, serializer: BaseSerializer) -> None:
        serializer.save(filed_by=self.request.user)

    @extend_schema(
        summary="Get a document's file",
        description="Fetches the file of a document as it was filed.",
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    @action(detail=True)
    def content(self, request: Request, pk: str) -> HttpResponse:
        document = self.get_object()
        if not document.file_name:
            raise NotFound("This document is on paper only.")
        # Never as the type that the sender claimed: a browser would run a page of theirs on our address.
        headers = {
            "Content-Disposition": f'attachment; filename="{document.pk}.bin"',
            "X-Content-Type-Options": "nosniff",
        }
        return HttpResponse(bytes(document.content), content_type="application/octet-stream", headers=headers)


@extend_schema(
    summary="Ask for a call",
    description="Asks a colleague to call a customer, and notes so at the customer. It is sent as a form.",
    operation_id="callbacks_create",
    request=CallbackSerializer,
    responses={201: NoteSerializer},
)
@api_view(["POST"])
@parser_classes([FormParser])
@permission_classes([IsAuthenticated])
def ask_for_call(request: Request) -> Response:
    wish = CallbackSerializer(data=request.data)
    wish.is_valid(raise_exception=True)
    asked = wish.validated_data
    text = f"Call in the {asked['time']} about {', '.join(sorted(asked['topics']))}."
    return noted(request, asked["customer"], f"Urgent: {text}" if asked["is_urgent"] else text)


def noted(request: Request, customer: Any, text: str) -> Response:
    note = Note.objects.create(author=request.user, customer=customer, text=text)
    return Response(NoteSerializer(note).data, status=201)


class StockCountView(APIView):
    permission_classes = [IsOrderClerk]
    parser_classes = [PlainTextParser]

    @extend_schema(
        summary="Enter a stock count",
        description="Sets the stock to what was counted. The text has one line per product: SKU, space, pieces. "
        "All lines count, or none when one is wrong.",
        operation_id="products_count",
        request={"text/plain": OpenApiTypes.STR},
        responses=ProductSerializer(many=True),
    )
    @transaction.atomic
    def post(self, request: Request) -> Response:
        lines = [line for line in str(request.data).splitlines() if line.strip()]
        if not lines:
            raise ValidationError({"detail": "The text has no line."})
        products = [counted(number, line) for number, line in enumerate(lines, start=1)]
        for product in products:
            product.save(update_fields=["stock"])
            detail = f"{product.sku}: counted {product.stock}"
            AuditEntry.objects.create(actor=request.user, action=AuditEntry.Action.STOCK_ADJUSTED, detail=detail)
        return Response(ProductSerializer(products, many=True).data)


def counted(number: int, line: str) -> Product:
    sku, _, pieces = line.strip().partition(" ")
    if not (pieces.isascii() and pieces.isdigit() and len(pieces) < 6):
        raise ValidationError({"detail": f"Line {number} is not a SKU and a number of pieces."})
    product = Product.objects.filter(sku=sku).first()
    if product is None:
        raise ValidationError({"detail": f"Line {number} names {sku}, which is no product."})
    product.stock = int(pieces)
    return product


def member(kind: str, name: str, description: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "arguments": [{"name": "kind", "hidden": {"kind": "constant", "value": kind}}],
        "body": {"type": "object", "properties": properties, "required": required},
    }


# One address for what may happen to an order; to an agent each kind is a tool of its own with its own arguments.
HAPPENINGS = {
    "familyParameter": "kind",
    "tags": ["orders"],
    "variants": [
        member(
            "return",
            "orders_return",
            "Notes that a customer sends back pieces of an order.",
            {
                "product": {"type": "string", "description": "SKU of what comes back."},
                "quantity": {"type": "integer", "minimum": 1, "description": "How many pieces."},
                "reason": {"type": "string", "maxLength": 200, "description": "Why, in the customer's words."},
            },
            ["product", "quantity", "reason"],
        ),
        member(
            "complaint",
            "orders_complaint",
            "Notes a customer's complaint about an order.",
            {
                "text": {"type": "string", "maxLength": 500, "description": "What is wrong, in the customer's words."},
                "wants_refund": {"type": "boolean", "default": False, "description": "Whether they want money back."},
            },
            ["text"],
        ),
    ],
}


class OrderEventView(APIView):
    permission_classes = [IsOrderClerk]

    @extend_schema(
        summary="Note what happened",
        description="Notes what happened to an order: a return or a complaint, each with data of its own.",
        operation_id="orders_events_create",
        request=OpenApiTypes.OBJECT,
        responses={201: NoteSerializer},
        extensions={"x-sezzlee": HAPPENINGS},
    )
    def post(self, request: Request, pk: int, kind: str) -> Response:
        text = EVENTS[kind](request.data) if kind in EVENTS else None
        if text is None:
            raise ValidationError({"kind": f"It is one of {', '.join(EVENTS)}."})
        order = get_object_or_404(Order.objects.select_related("customer"), pk=pk)
        return noted(request, order.customer, f"Order {pk}: {text}")


def return_text(data: Any) -> str:
    event = ReturnSerializer(data=data)
    event.is_valid(raise_exception=True)
    told = event.validated_data
    return f"{told['quantity']} of {told['product'].sku} come back: {told['reason']}"


def complaint_text(data: Any) -> str:
    event = ComplaintSerializer(data=data)
    event.is_valid(raise_exception=True)
    told = event.validated_data
    return f"complaint: {told['text']}" + (" (wants a refund)" if told["wants_refund"] else "")


EVENTS = {"return": return_text, "complaint": complaint_text}
