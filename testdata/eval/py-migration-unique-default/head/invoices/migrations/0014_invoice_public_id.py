import uuid

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("invoices", "0013_invoice_due_on"),
    ]

    operations = [
        migrations.AddField(
            model_name="invoice",
            name="public_id",
            field=models.UUIDField(default=uuid.uuid4, editable=False, unique=True),
        ),
    ]
