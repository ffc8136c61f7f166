"""A reusable Django app that lets an AI agent use an existing Django REST Framework backend."""

__version__ = "0.1.0"
