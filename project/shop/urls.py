from django.urls import include, path
from rest_framework.authtoken.views import obtain_auth_token
from rest_framework.routers import SimpleRouter

from project.shop.views.customers import CustomerViewSet, NoteViewSet
from project.shop.views.office import AuditListView, MeView, SalesReportView, StockReportView, ping
from project.shop.views.orders import OrderViewSet
from project.shop.views.papers import DocumentViewSet, OrderEventView, StockCountView, ask_for_call
from project.shop.views.products import ProductDetailView, ProductListView, ProductPricesView, adjust_stock

router = SimpleRouter()
router.register("customers", CustomerViewSet)
router.register("documents", DocumentViewSet)
router.register("notes", NoteViewSet)
router.register("orders", OrderViewSet)

urlpatterns = [
    path("", include(router.urls)),
    path("products/", ProductListView.as_view()),
    path("products/<int:pk>/", ProductDetailView.as_view()),
    path("products/<int:pk>/stock/", adjust_stock),
    path("products/prices/", ProductPricesView.as_view()),
    path("products/count/", StockCountView.as_view()),
    path("orders/<int:pk>/events/<str:kind>/", OrderEventView.as_view()),
    path("callbacks/", ask_for_call),
    path("reports/sales/", SalesReportView.as_view()),
    path("reports/stock/", StockReportView.as_view()),
    path("audit/", AuditListView.as_view()),
    path("me/", MeView.as_view()),
    path("ping/", ping),
    path("token/", obtain_auth_token),
]
