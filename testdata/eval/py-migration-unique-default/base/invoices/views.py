from django.contrib.auth.decorators import login_required
from django.shortcuts import get_object_or_404, render

from invoices.models import Invoice


@login_required
def invoice(request, number):
    found = get_object_or_404(Invoice, number=number, customer=request.user.customer)
    return render(request, "invoices/invoice.html", {"invoice": found})
