import uuid

from django.db import models


class Invoice(models.Model):
    public_id = models.UUIDField(default=uuid.uuid4, editable=False, unique=True)
    number = models.CharField(max_length=20, unique=True)
    customer = models.ForeignKey("customers.Customer", on_delete=models.PROTECT)
    due_on = models.DateField()
