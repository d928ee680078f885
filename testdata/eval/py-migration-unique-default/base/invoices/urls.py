from django.urls import path

from invoices import views

urlpatterns = [
    path("invoices/<int:number>/", views.invoice, name="invoice"),
]
