from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from rest_framework import serializers

from project.shop.models import AuditEntry, Customer, Document, Note, Order, OrderItem, Product

# Without it the largest number that the database takes would be documented, which differs between databases.
MOST_PIECES = 100_000
LARGEST_FILE_BYTES = 200_000


class CustomerSerializer(serializers.ModelSerializer):
    class Meta:
        model = Customer
        fields = ["id", "name", "email", "city", "created_at"]


class ProductSerializer(serializers.ModelSerializer):
    class Meta:
        model = Product
        fields = ["id", "sku", "name", "category", "price", "stock", "is_active"]
        extra_kwargs = {"stock": {"max_value": MOST_PIECES}}


class PriceChangeSerializer(serializers.Serializer):
    sku = serializers.SlugRelatedField(
        slug_field="sku", queryset=Product.objects.all(), help_text="Stock-keeping unit of the product."
    )
    price = serializers.DecimalField(
        max_digits=8, decimal_places=2, min_value=Decimal("0.01"), help_text="The new price in euros."
    )


class StockAdjustmentSerializer(serializers.Serializer):
    n = serializers.IntegerField(min_value=-MOST_PIECES, max_value=MOST_PIECES)
    r = serializers.CharField(required=False, max_length=100)


class OrderItemSerializer(serializers.ModelSerializer):
    product = serializers.PrimaryKeyRelatedField(
        queryset=Product.objects.filter(is_active=True), help_text="Id of a product that can be ordered."
    )

    class Meta:
        model = OrderItem
        fields = ["product", "quantity", "unit_price"]
        read_only_fields = ["unit_price"]
        extra_kwargs = {"quantity": {"max_value": MOST_PIECES}}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        product = attrs["product"]
        if attrs["quantity"] > product.stock:
            raise serializers.ValidationError({"quantity": f"Only {product.stock} of {product.sku} are in stock."})
        return attrs


class OrderSerializer(serializers.ModelSerializer):
    customer_name = serializers.CharField(source="customer.name", read_only=True, help_text="Name of the customer.")
    items = OrderItemSerializer(many=True, allow_empty=False, help_text="What is ordered: at least one product.")
    placed_by = serializers.SlugRelatedField(slug_field="username", read_only=True, help_text="Who entered the order.")
    total = serializers.DecimalField(
        max_digits=10, decimal_places=2, read_only=True, help_text="Sum of all items in euros."
    )

    class Meta:
        model = Order
        fields = ["id", "customer", "customer_name", "status", "comment", "items", "total", "placed_by", "created_at"]

    @transaction.atomic
    def create(self, validated_data: dict[str, Any]) -> Order:
        items = validated_data.pop("items")
        order = super().create(validated_data)
        self._put_items(order, items)
        return order

    @transaction.atomic
    def update(self, instance: Order, validated_data: dict[str, Any]) -> Order:
        items = validated_data.pop("items", None)
        order = super().update(instance, validated_data)
        if items is not None:
            self._put_items(order, items)
        return order

    def _put_items(self, order: Order, items: list[dict[str, Any]]) -> None:
        order.items.all().delete()
        OrderItem.objects.bulk_create(
            OrderItem(order=order, unit_price=item["product"].price, **item) for item in items
        )
        # DRF answers with this very order: the items it fetched before the change must not be in the answer.
        getattr(order, "_prefetched_objects_cache", {}).clear()


class CancellationSerializer(serializers.Serializer):
    reason = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=120, help_text="Why, for the audit; may be left out."
    )


class NoteSerializer(serializers.ModelSerializer):
    author = serializers.SlugRelatedField(slug_field="username", read_only=True, help_text="Who wrote the note.")

    class Meta:
        model = Note
        fields = ["id", "customer", "author", "text", "created_at"]


class DocumentSerializer(serializers.ModelSerializer):
    file = serializers.FileField(
        required=False,
        write_only=True,
        allow_empty_file=True,
        help_text="The scan, at most 200 kB; without one only the paper in the cabinet is recorded.",
    )
    filed_by = serializers.SlugRelatedField(slug_field="username", read_only=True, help_text="Who filed it.")
    file_name = serializers.CharField(read_only=True, help_text="Name of the file; empty when there is none.")
    size = serializers.SerializerMethodField(help_text="Bytes of the file.")

    class Meta:
        model = Document
        fields = ["id", "customer", "title", "is_signed", "file", "file_name", "size", "filed_by", "created_at"]
        extra_kwargs = {"is_signed": {"default": False}}

    def get_size(self, document: Document) -> int:
        return len(document.content)

    def validate_file(self, file: UploadedFile) -> UploadedFile:
        if file.size > LARGEST_FILE_BYTES:
            raise serializers.ValidationError(f"A file has at most {LARGEST_FILE_BYTES} bytes, this one {file.size}.")
        return file

    def create(self, validated_data: dict[str, Any]) -> Document:
        file = validated_data.pop("file", None)
        if file is not None:
            validated_data |= {"file_name": file.name, "content_type": file.content_type, "content": file.read()}
        return super().create(validated_data)


class CallbackSerializer(serializers.Serializer):
    customer = serializers.PrimaryKeyRelatedField(
        queryset=Customer.objects.all(), help_text="Id of the customer to call."
    )
    time = serializers.ChoiceField(choices=["morning", "afternoon"], help_text="When to call.")
    topics = serializers.MultipleChoiceField(
        choices=["delivery", "invoice", "product"], allow_empty=False, help_text="What to talk about, at least one."
    )
    is_urgent = serializers.BooleanField(default=False, help_text="Whether the call cannot wait.")


class ReturnSerializer(serializers.Serializer):
    product = serializers.SlugRelatedField(slug_field="sku", queryset=Product.objects.all())
    quantity = serializers.IntegerField(min_value=1)
    reason = serializers.CharField(max_length=200)


class ComplaintSerializer(serializers.Serializer):
    text = serializers.CharField(max_length=500)
    wants_refund = serializers.BooleanField(default=False)


class StockReportQuerySerializer(serializers.Serializer):
    state = serializers.ChoiceField(choices=["low", "out"], required=False)
    min = serializers.DecimalField(max_digits=8, decimal_places=2, required=False)
    max = serializers.DecimalField(max_digits=8, decimal_places=2, required=False)


class AuditEntrySerializer(serializers.ModelSerializer):
    actor = serializers.SlugRelatedField(slug_field="username", read_only=True, help_text="Who did it.")

    class Meta:
        model = AuditEntry
        fields = ["id", "actor", "action", "detail", "created_at"]


class SalesReportQuerySerializer(serializers.Serializer):
    start = serializers.DateField(required=False, help_text="First day of the report (YYYY-MM-DD); all if left out.")
    end = serializers.DateField(required=False, help_text="Last day of the report (YYYY-MM-DD); all if left out.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "start" in attrs and "end" in attrs and attrs["start"] > attrs["end"]:
            raise serializers.ValidationError({"end": "The last day lies before the first one."})
        return attrs


class PingSerializer(serializers.Serializer):
    status = serializers.CharField(help_text="Always ok.")


class MeSerializer(serializers.ModelSerializer):
    name = serializers.CharField(source="get_full_name", help_text="Full name.")
    permissions = serializers.SerializerMethodField(help_text="Permissions, such as shop.add_order.")

    class Meta:
        model = User
        fields = ["username", "name", "email", "is_staff", "permissions"]

    def get_permissions(self, user: User) -> list[str]:
        return sorted(user.get_all_permissions())
