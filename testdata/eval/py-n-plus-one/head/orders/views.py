from django.contrib.auth.decorators import login_required, permission_required
from django.core.paginator import Paginator
from django.http import JsonResponse
from django.views.decorators.http import require_GET

from orders.models import Order
from orders.serializers import serialize_order

PAGE_SIZE = 100


@require_GET
@login_required
@permission_required("orders.view_order", raise_exception=True)
def order_list(request):
    orders = Order.objects.filter(shop=request.user.shop).order_by("-placed_at", "-id")
    page = Paginator(orders, PAGE_SIZE).get_page(request.GET.get("page"))
    return JsonResponse(
        {
            "orders": [serialize_order(order) for order in page.object_list],
            "page": page.number,
            "pages": page.paginator.num_pages,
        }
    )
