"""The demo's users, with passwords and tokens that everyone may read; fixtures/users.json holds the same."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    username: str
    role: str

    @property
    def password(self) -> str:
        return f"{self.username}-demo"

    @property
    def token(self) -> str:
        return f"{self.username}-demo-token"


ACCOUNTS = (
    Account(username="alice", role="Order clerk: works with orders and customers"),
    Account(username="bob", role="No permissions: looks at products, writes notes"),
    Account(username="carol", role="Staff: changes products and prices, reads the audit"),
    Account(username="admin", role="Superuser: may do everything, curates the catalog"),
)
