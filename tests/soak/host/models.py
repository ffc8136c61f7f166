from django.conf import settings
from django.db import models


class Entry(models.Model):
    """One write; ``key`` is not unique, so that a doubled one shows."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    key = models.CharField(max_length=64)

    def __str__(self) -> str:
        return self.key
