from django.contrib.auth.decorators import login_required
from django.shortcuts import get_object_or_404, render

from invoices.models import Invoice


@login_required
def invoice(request, public_id):
    found = get_object_or_404(Invoice, public_id=public_id, customer=request.user.customer)
    return render(request, "invoices/invoice.html", {"invoice": found})
