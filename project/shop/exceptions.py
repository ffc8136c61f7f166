from rest_framework import status
from rest_framework.exceptions import APIException


class OrderIsFinal(APIException):
    status_code = status.HTTP_409_CONFLICT
    default_code = "order_is_final"
    default_detail = "A shipped or cancelled order cannot be cancelled."


class StillOrdered(APIException):
    status_code = status.HTTP_409_CONFLICT
    default_code = "still_ordered"
    default_detail = "There are orders for it, so it cannot be deleted."
