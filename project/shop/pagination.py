from rest_framework.pagination import PageNumberPagination


class ShopPagination(PageNumberPagination):
    page_size = 20
    page_size_query_param = "page_size"
    page_size_query_description = "How many results one page holds, at most 100."
    max_page_size = 100
