from django.urls import path

from invoices import views

urlpatterns = [
    path("invoices/<str:number>/", views.invoice, name="invoice"),
]
