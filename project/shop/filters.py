import django_filters
from rest_framework.exceptions import ValidationError
from rest_framework.filters import SearchFilter

from project.shop.models import AuditEntry, Customer, Order, Product

LONGEST_SEARCH_CHARS = 200  # SQLite refuses a pattern of some thousand


class WordFilter(SearchFilter):
    def get_search_terms(self, request):
        text = request.query_params.get(self.search_param, "")
        if len(text) > LONGEST_SEARCH_CHARS:
            raise ValidationError({self.search_param: f"At most {LONGEST_SEARCH_CHARS} characters are searched for."})
        return super().get_search_terms(request)


class ProductFilter(django_filters.FilterSet):
    min_price = django_filters.NumberFilter(
        "price", "gte", help_text="Only products that cost at least this, in euros."
    )
    max_price = django_filters.NumberFilter("price", "lte", help_text="Only products that cost at most this, in euros.")
    in_stock = django_filters.BooleanFilter(
        method="filter_in_stock", help_text="true: only products on the shelf; false: only sold-out ones."
    )

    class Meta:
        model = Product
        fields = ["category", "is_active"]

    def filter_in_stock(self, queryset, name, value):
        return queryset.filter(stock__gt=0) if value else queryset.filter(stock=0)


class OrderFilter(django_filters.FilterSet):
    status = django_filters.ChoiceFilter(choices=Order.Status, help_text="Only orders with this status.")
    customer = django_filters.ModelChoiceFilter(
        queryset=Customer.objects.all(), help_text="Only orders of the customer with this id."
    )
    created_after = django_filters.IsoDateTimeFilter(
        "created_at", "gte", help_text="Only orders entered at or after this moment (ISO 8601)."
    )
    is_draft = django_filters.BooleanFilter(
        "status", "isnull", help_text="true: only drafts, whose status is null; false: only confirmed orders."
    )

    class Meta:
        model = Order
        fields = ["status", "customer", "created_after", "is_draft"]


class AuditFilter(django_filters.FilterSet):
    actor = django_filters.CharFilter("actor__username", help_text="Only what the user with this name did.")

    class Meta:
        model = AuditEntry
        fields = ["action", "actor"]
