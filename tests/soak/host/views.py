"""Views whose answers tell whose request they saw."""

from collections.abc import Iterator
from threading import Event
from typing import Any

from django.conf import settings
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, OpenApiTypes, extend_schema
from rest_framework import generics, serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from tests.soak.host.models import Entry

LINES = {"size": OpenApiParameter("size", int, description="Lines to stream.")}


class EntrySerializer(serializers.ModelSerializer[Entry]):
    owner = serializers.CharField(source="owner.username", read_only=True)

    class Meta:
        model = Entry
        fields = ("key", "owner")


@extend_schema(operation_id="who_am_i", responses=OpenApiTypes.OBJECT)
@api_view(["GET"])
def me(request: Request) -> Response:
    """Say who is asking."""
    return Response({"owner": request.user.get_username()})


class Entries(generics.ListCreateAPIView[Entry]):
    """The caller's own entries."""

    serializer_class = EntrySerializer

    def get_queryset(self) -> Any:
        return Entry.objects.filter(owner=self.request.user).select_related("owner").order_by("-pk")[:20]

    def perform_create(self, serializer: Any) -> None:
        serializer.save(owner=self.request.user)


@extend_schema(operation_id="entry_read", responses=EntrySerializer)
@api_view(["GET"])
def entry(request: Request, key: str) -> Response:
    """Read one of the caller's own entries."""
    found = get_object_or_404(Entry.objects.select_related("owner"), owner=request.user, key=key)
    return Response(EntrySerializer(found).data)


@extend_schema(operation_id="hanging_entry_create", request=EntrySerializer, responses=EntrySerializer)
@api_view(["POST"])
def hang(request: Request) -> Response:
    """Write an entry, and answer long after every deadline."""
    written = Entry.objects.create(owner=request.user, key=request.data["key"])
    Event().wait(settings.DEADLINE_SECONDS * 3)
    return Response(EntrySerializer(written).data)


@extend_schema(operation_id="failing_entry_create", request=EntrySerializer, responses=EntrySerializer)
@api_view(["POST"])
def fail(request: Request) -> Response:
    """Write an entry, and break before it is kept."""
    Entry.objects.create(owner=request.user, key=request.data["key"])
    raise RuntimeError("the view breaks after it has written")


@extend_schema(
    operation_id="stream_read", parameters=[LINES["size"]], responses={(200, "text/plain"): OpenApiTypes.STR}
)
@api_view(["GET"])
def stream(request: Request) -> Any:
    """Stream lines that carry the caller's name."""
    line = f"{request.user.get_username()}\n"

    def lines() -> Iterator[str]:
        for _ in range(int(request.query_params["size"])):
            yield line

    return StreamingHttpResponse(lines(), content_type="text/plain; charset=utf-8")
