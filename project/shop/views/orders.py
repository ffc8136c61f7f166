from django.db import transaction
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from project.shop.exceptions import OrderIsFinal
from project.shop.filters import OrderFilter
from project.shop.invoices import invoice_pdf
from project.shop.models import AuditEntry, Order
from project.shop.permissions import IsOrderClerk, ModelPermissions
from project.shop.renderers import PdfRenderer
from project.shop.serializers import CancellationSerializer, OrderSerializer
from project.shop.views.shared import ordering, search


@extend_schema_view(
    list=extend_schema(
        summary="List orders",
        description="Finds orders by status, customer, date or words in the comment, newest first.",
        parameters=[search("customer name or comment"), ordering("created_at")],
    ),
    retrieve=extend_schema(summary="Get an order", description="Fetches one order with its items and total."),
    create=extend_schema(
        summary="Create an order",
        description="Enters an order of a customer for one or more products. Prices are taken from the products; "
        "a quantity beyond the stock is refused.",
    ),
    update=extend_schema(summary="Replace an order", description="Replaces all data of an order, items included."),
    partial_update=extend_schema(
        summary="Change an order",
        description="Changes only the given data of an order; items, when given, replace all items.",
    ),
    destroy=extend_schema(
        summary="Delete an order", description="Removes an order for good. To keep it on record, cancel it instead."
    ),
)
class OrderViewSet(viewsets.ModelViewSet):
    queryset = Order.objects.select_related("customer", "placed_by").prefetch_related("items__product")
    serializer_class = OrderSerializer
    permission_classes = [ModelPermissions]
    filterset_class = OrderFilter
    search_fields = ["customer__name", "comment"]
    ordering_fields = ["created_at"]

    def perform_create(self, serializer: BaseSerializer) -> None:
        serializer.save(placed_by=self.request.user)

    @extend_schema(
        summary="Cancel an order",
        description="Cancels an order that was not shipped, and notes it in the audit. It cannot be undone.",
        request=CancellationSerializer,
        responses=OrderSerializer,
    )
    @action(detail=True, methods=["post"], permission_classes=[IsOrderClerk])
    def cancel(self, request: Request, pk: str) -> Response:
        cancellation = CancellationSerializer(data=request.data)
        cancellation.is_valid(raise_exception=True)
        order = self.get_object()
        cancel_order(order, request.user, cancellation.validated_data["reason"])
        return Response(OrderSerializer(order).data)

    @extend_schema(
        summary="Get an invoice",
        description="Fetches the invoice of an order as a PDF of one page.",
        responses={(200, "application/pdf"): OpenApiTypes.BINARY},
    )
    @action(detail=True, renderer_classes=[PdfRenderer])
    def invoice(self, request: Request, pk: str) -> Response:
        order = self.get_object()
        name = f'attachment; filename="invoice-{order.pk}.pdf"'
        return Response(invoice_pdf(order), headers={"Content-Disposition": name})


@transaction.atomic
def cancel_order(order: Order, actor, reason: str) -> None:
    final = [Order.Status.SHIPPED, Order.Status.CANCELLED]
    # One statement, so that of two who cancel at once only one does.
    if not Order.objects.filter(pk=order.pk).exclude(status__in=final).update(status=Order.Status.CANCELLED):
        raise OrderIsFinal
    order.status = Order.Status.CANCELLED
    detail = f"Order {order.pk}: {reason}" if reason else f"Order {order.pk}"
    AuditEntry.objects.create(actor=actor, action=AuditEntry.Action.ORDER_CANCELLED, detail=detail)
