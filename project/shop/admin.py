from django.contrib import admin

from project.shop.models import AuditEntry, Customer, Document, Note, Order, OrderItem, Product


@admin.register(Customer)
class CustomerAdmin(admin.ModelAdmin):
    list_display = ["name", "email", "city"]
    search_fields = ["name", "email", "city"]


@admin.register(Product)
class ProductAdmin(admin.ModelAdmin):
    list_display = ["sku", "name", "category", "price", "stock", "is_active"]
    list_filter = ["category", "is_active"]
    search_fields = ["sku", "name"]


class OrderItemInline(admin.TabularInline):
    model = OrderItem
    extra = 0


@admin.register(Order)
class OrderAdmin(admin.ModelAdmin):
    list_display = ["id", "customer", "status", "placed_by", "created_at"]
    list_filter = ["status"]
    list_select_related = ["customer", "placed_by"]
    inlines = [OrderItemInline]


@admin.register(Document)
class DocumentAdmin(admin.ModelAdmin):
    list_display = ["title", "customer", "is_signed", "file_name", "filed_by", "created_at"]
    list_filter = ["is_signed"]
    list_select_related = ["customer", "filed_by"]


@admin.register(Note)
class NoteAdmin(admin.ModelAdmin):
    list_display = ["customer", "author", "created_at"]
    list_select_related = ["customer", "author"]


@admin.register(AuditEntry)
class AuditEntryAdmin(admin.ModelAdmin):
    list_display = ["created_at", "action", "detail", "actor"]
    list_filter = ["action"]
    list_select_related = ["actor"]

    def has_add_permission(self, request):
        return False

    def has_change_permission(self, request, obj=None):
        return False

    def has_delete_permission(self, request, obj=None):
        return False
