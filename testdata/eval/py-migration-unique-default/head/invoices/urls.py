from django.urls import path

from invoices import views

urlpatterns = [
    path("invoices/<uuid:public_id>/", views.invoice, name="invoice"),
]
