"""
Signals for hosts.

``catalog_published``: a revision became current; ``revision`` is it. Sent once its transaction has committed.

``tool_invoked``: a call of ``invoke_tool`` was answered; ``request`` is the endpoint's, ``user`` the caller's,
``trace`` the ``CallTrace`` and ``seconds`` how long it took. Sent before the answer leaves, so a receiver that takes
its time makes the agent wait.

Receivers that raise are logged and change nothing.
"""

from django.dispatch import Signal

catalog_published = Signal()
tool_invoked = Signal()
