from decimal import Decimal

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models


class Customer(models.Model):
    name = models.CharField(max_length=120, help_text="Full name of the person or company.")
    email = models.EmailField(unique=True, help_text="Where order mails go; no two customers share one.")
    city = models.CharField(max_length=80, blank=True, help_text="City of the delivery address.")
    created_at = models.DateTimeField(auto_now_add=True, help_text="When the customer was added.")

    class Meta:
        ordering = ["name", "pk"]

    def __str__(self) -> str:
        return self.name


class Product(models.Model):
    class Category(models.TextChoices):
        FURNITURE = "furniture", "Furniture"
        KITCHEN = "kitchen", "Kitchen"
        OFFICE = "office", "Office"

    sku = models.CharField(max_length=20, unique=True, help_text="Stock-keeping unit, such as CHR-OAK.")
    name = models.CharField(max_length=120, help_text="Name that customers read.")
    category = models.CharField(max_length=20, choices=Category, help_text="Shelf that the product stands on.")
    price = models.DecimalField(
        max_digits=8,
        decimal_places=2,
        validators=[MinValueValidator(Decimal("0.01"))],
        help_text="Price of one piece in euros.",
    )
    stock = models.PositiveIntegerField(default=0, help_text="Pieces on the shelf.")
    is_active = models.BooleanField(default=True, help_text="Whether it can be ordered.")

    class Meta:
        ordering = ["sku"]

    def __str__(self) -> str:
        return f"{self.sku} {self.name}"


class Order(models.Model):
    """One customer's order; a status of null is a draft that nobody has confirmed yet."""

    class Status(models.TextChoices):
        PLACED = "placed", "Placed"
        PAID = "paid", "Paid"
        SHIPPED = "shipped", "Shipped"
        CANCELLED = "cancelled", "Cancelled"

    customer = models.ForeignKey(
        Customer, on_delete=models.PROTECT, related_name="orders", help_text="Id of the customer who orders."
    )
    status = models.CharField(  # noqa: DJ001 - the API must show a nullable enum, as many real ones have
        max_length=20, choices=Status, null=True, blank=True, help_text="Null while the order is a draft."
    )
    comment = models.TextField(blank=True, help_text="What the customer asked for, in their own words.")
    placed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="orders", help_text="Who entered the order."
    )
    created_at = models.DateTimeField(auto_now_add=True, help_text="When the order was entered.")

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"Order {self.pk}"

    @property
    def total(self) -> Decimal:
        return sum((item.subtotal for item in self.items.all()), Decimal("0.00"))


class OrderItem(models.Model):
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="items")
    product = models.ForeignKey(
        Product, on_delete=models.PROTECT, related_name="order_items", help_text="Id of the product."
    )
    quantity = models.PositiveIntegerField(validators=[MinValueValidator(1)], help_text="How many pieces, at least 1.")
    unit_price = models.DecimalField(
        max_digits=8, decimal_places=2, help_text="Price of one piece when it was ordered, in euros."
    )

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.quantity} x {self.product}"

    @property
    def subtotal(self) -> Decimal:
        return self.quantity * self.unit_price


class Note(models.Model):
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notes", help_text="Who wrote the note."
    )
    customer = models.ForeignKey(
        Customer, on_delete=models.CASCADE, related_name="notes", help_text="Id of the customer it is about."
    )
    text = models.TextField(max_length=2000, help_text="What colleagues should know about the customer.")
    created_at = models.DateTimeField(auto_now_add=True, help_text="When the note was written.")

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.author}: {self.text[:40]}"


class Document(models.Model):
    """A paper of a customer; the file itself is in the database, so that every process of the shop can give it."""

    customer = models.ForeignKey(
        Customer, on_delete=models.CASCADE, related_name="documents", help_text="Id of the customer it belongs to."
    )
    title = models.CharField(max_length=120, help_text="What the document is, such as Signed delivery terms.")
    is_signed = models.BooleanField(default=False, help_text="Whether the customer has signed it.")
    filed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="documents")
    created_at = models.DateTimeField(auto_now_add=True, help_text="When the document was filed.")
    file_name = models.CharField(max_length=200, blank=True, editable=False)
    content_type = models.CharField(max_length=100, blank=True, editable=False)
    content = models.BinaryField(default=bytes)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.title


class AuditEntry(models.Model):
    """One change that the shop must be able to account for."""

    class Action(models.TextChoices):
        ORDER_CANCELLED = "order_cancelled", "Order cancelled"
        PRICE_CHANGED = "price_changed", "Price changed"
        STOCK_ADJUSTED = "stock_adjusted", "Stock adjusted"

    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="audit_entries")
    action = models.CharField(max_length=20, choices=Action)
    detail = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.get_action_display()}: {self.detail}"
