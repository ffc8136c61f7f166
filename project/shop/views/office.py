"""What is about the shop as a whole: is it up, who am I, what was sold, who changed what."""

from datetime import date
from decimal import Decimal
from typing import Any

from django.db.models import F, QuerySet, Sum
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.decorators import api_view, permission_classes
from rest_framework.permissions import AllowAny, IsAdminUser, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from project.shop.filters import AuditFilter
from project.shop.models import AuditEntry, Order, OrderItem, Product
from project.shop.permissions import IsOrderClerk
from project.shop.renderers import CsvRenderer
from project.shop.serializers import (
    AuditEntrySerializer,
    MeSerializer,
    PingSerializer,
    ProductSerializer,
    SalesReportQuerySerializer,
    StockReportQuerySerializer,
)
from project.shop.views.shared import ordering, search


@extend_schema(
    summary="Ping",
    description="Says that the shop is up; asks for no login.",
    operation_id="ping",
    responses=PingSerializer,
)
@api_view(["GET"])
@permission_classes([AllowAny])
def ping(request: Request) -> Response:
    return Response({"status": "ok"})


class MeView(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(
        summary="Who am I",
        description="Tells as whom you are logged in, and what you are permitted to do.",
        operation_id="me",
        responses=MeSerializer,
    )
    def get(self, request: Request) -> Response:
        return Response(MeSerializer(request.user).data)


class SalesReportView(APIView):
    permission_classes = [IsOrderClerk]
    renderer_classes = [CsvRenderer]

    @extend_schema(
        summary="Sales report",
        description="Sums up pieces and revenue per product as CSV. Drafts and cancelled orders do not count.",
        operation_id="reports_sales",
        parameters=[SalesReportQuerySerializer],
        responses={(200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> Response:
        query = SalesReportQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        rows = sales_rows(**query.validated_data)
        return Response(rows, headers={"Content-Disposition": 'attachment; filename="sales.csv"'})


def sales_rows(start: date | None = None, end: date | None = None) -> list[list[Any]]:
    sold = OrderItem.objects.exclude(order__status=None).exclude(order__status=Order.Status.CANCELLED)
    if start:
        sold = sold.filter(order__created_at__date__gte=start)
    if end:
        sold = sold.filter(order__created_at__date__lte=end)
    sums = sold.values_list("product__sku", "product__name").annotate(
        pieces=Sum("quantity"), revenue=Sum(F("quantity") * F("unit_price"))
    )
    rows = [[sku, name, pieces, f"{revenue:.2f}"] for sku, name, pieces, revenue in sums.order_by("product__sku")]
    return [["sku", "name", "pieces", "revenue"], *rows]


LOW_STOCK = 10
PRICE_RANGE = {
    "type": "object",
    "properties": {
        "min": {"type": "number", "description": "At least this, in euros."},
        "max": {"type": "number", "description": "At most this, in euros."},
    },
}
# Two tools of one operation: each says what it is for, and has no argument left to get wrong.
STOCK_TOOLS = {
    "tags": ["products"],
    "variants": [
        {
            "name": name,
            "description": description,
            "arguments": [{"name": "state", "hidden": {"kind": "constant", "value": state}}],
        }
        for name, state, description in [
            ("products_running_low", "low", f"Lists products of which there are fewer than {LOW_STOCK}, but some."),
            ("products_sold_out", "out", "Lists products that are sold out."),
        ]
    ],
}


class StockReportView(APIView):
    permission_classes = [IsOrderClerk]

    @extend_schema(
        summary="Stock report",
        description="Lists products that run low or are sold out, cheapest first.",
        operation_id="reports_stock",
        parameters=[
            OpenApiParameter("state", str, enum=["low", "out"], description="Which of them; both if left out."),
            OpenApiParameter(
                "price", PRICE_RANGE, style="deepObject", explode=True, description="Only products in this price range."
            ),
        ],
        responses=ProductSerializer(many=True),
        extensions={"x-sezzlee": STOCK_TOOLS},
    )
    def get(self, request: Request) -> Response:
        given = {"state": request.query_params.get("state")} | {
            bound: request.query_params.get(f"price[{bound}]") for bound in ("min", "max")
        }
        query = StockReportQuerySerializer(data={name: value for name, value in given.items() if value is not None})
        query.is_valid(raise_exception=True)
        return Response(ProductSerializer(scarce(**query.validated_data), many=True).data)


def scarce(state: str | None = None, min: Decimal | None = None, max: Decimal | None = None) -> QuerySet[Product]:
    products = Product.objects.filter(stock__lt=LOW_STOCK).order_by("price", "pk")
    if state is not None:
        products = products.filter(stock__gt=0) if state == "low" else products.filter(stock=0)
    if min is not None:
        products = products.filter(price__gte=min)
    return products if max is None else products.filter(price__lte=max)


@extend_schema(
    summary="List the audit",
    description="Lists who cancelled orders, changed prices or adjusted stock, newest first. For staff only.",
    parameters=[search("the detail of the entry"), ordering("created_at")],
)
class AuditListView(generics.ListAPIView):
    queryset = AuditEntry.objects.select_related("actor")
    serializer_class = AuditEntrySerializer
    permission_classes = [IsAdminUser]
    filterset_class = AuditFilter
    search_fields = ["detail"]
    ordering_fields = ["created_at"]
