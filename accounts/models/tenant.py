from django.db import models

from memoryhub.common.ids import new_id


class Tenant(models.Model):
    """A row that belongs to one account.

    Django sees a plain `id`; the database's primary key is (account_id, id), its foreign keys between
    tenant tables are composite, and row-level security hides it outside `tenant(account_id)`.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    account = models.ForeignKey("accounts.Account", models.CASCADE, db_index=False, related_name="+")

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.id}"
