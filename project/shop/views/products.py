from django.db import transaction
from django.db.models import F
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics
from rest_framework.decorators import api_view, permission_classes
from rest_framework.permissions import DjangoModelPermissions, DjangoModelPermissionsOrAnonReadOnly
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError

from project.shop.filters import ProductFilter
from project.shop.models import AuditEntry, Product
from project.shop.permissions import IsOrderClerk
from project.shop.serializers import MOST_PIECES, PriceChangeSerializer, ProductSerializer, StockAdjustmentSerializer
from project.shop.views.shared import KeepsOrdered, ordering, search


@extend_schema_view(
    get=extend_schema(
        summary="List products",
        description="Finds products by category, price, stock or words in their name; everyone may look.",
        parameters=[search("SKU or name"), ordering("name", "price", "stock")],
    ),
    post=extend_schema(summary="Add a product", description="Adds a product to the range."),
)
class ProductListView(generics.ListCreateAPIView):
    queryset = Product.objects.all()
    serializer_class = ProductSerializer
    permission_classes = [DjangoModelPermissionsOrAnonReadOnly]
    filterset_class = ProductFilter
    search_fields = ["sku", "name"]
    ordering_fields = ["name", "price", "stock"]


@extend_schema_view(
    get=extend_schema(summary="Get a product", description="Fetches one product with its price and stock."),
    put=extend_schema(summary="Replace a product", description="Replaces all data of a product."),
    patch=extend_schema(summary="Change a product", description="Changes only the given data of a product."),
    delete=extend_schema(
        summary="Delete a product", description="Deletes a product that was never ordered; else set is_active to false."
    ),
)
class ProductDetailView(KeepsOrdered, generics.RetrieveUpdateDestroyAPIView):
    queryset = Product.objects.all()
    serializer_class = ProductSerializer
    permission_classes = [DjangoModelPermissionsOrAnonReadOnly]


class ProductPricesView(generics.GenericAPIView):
    queryset = Product.objects.all()
    permission_classes = [DjangoModelPermissions]
    pagination_class = None

    @extend_schema(
        summary="Change prices",
        description="Sets the prices of several products at once: all of them, or none when one line is wrong.",
        operation_id="products_prices_update",
        request=PriceChangeSerializer(many=True),
        responses=ProductSerializer(many=True),
        filters=False,
    )
    @transaction.atomic
    def patch(self, request: Request) -> Response:
        changes = PriceChangeSerializer(data=request.data, many=True, allow_empty=False)
        changes.is_valid(raise_exception=True)
        products = [set_price(change["sku"], change["price"], request.user) for change in changes.validated_data]
        return Response(ProductSerializer(products, many=True).data)


def set_price(product, price, actor) -> Product:
    detail = f"{product.sku}: {product.price} to {price}"
    product.price = price
    product.save(update_fields=["price"])
    AuditEntry.objects.create(actor=actor, action=AuditEntry.Action.PRICE_CHANGED, detail=detail)
    return product


# Described as carelessly as some operation in every project is, so that curation has something to mend.
@extend_schema(
    description="Stk adj.",
    operation_id="products_stk_adj",
    request=StockAdjustmentSerializer,
    responses=ProductSerializer,
)
@api_view(["POST"])
@permission_classes([IsOrderClerk])
@transaction.atomic
def adjust_stock(request: Request, pk: int) -> Response:
    adjustment = StockAdjustmentSerializer(data=request.data)
    adjustment.is_valid(raise_exception=True)
    product = get_object_or_404(Product, pk=pk)
    pieces = adjustment.validated_data["n"]
    possible = Product.objects.filter(pk=pk, stock__range=(-pieces, MOST_PIECES - pieces))
    if not possible.update(stock=F("stock") + pieces):
        room = f", and no more than {MOST_PIECES} can be" if pieces > 0 else ""
        raise ValidationError({"n": f"Only {product.stock} of {product.sku} are in stock{room}."})
    detail = f"{product.sku}: {pieces:+d} {adjustment.validated_data.get('r', '')}".strip()
    AuditEntry.objects.create(actor=request.user, action=AuditEntry.Action.STOCK_ADJUSTED, detail=detail)
    product.refresh_from_db()
    return Response(ProductSerializer(product).data)
