from __future__ import annotations

from typing import Any

from orders.models import Order


def serialize_order(order: Order) -> dict[str, Any]:
    """An order as the app shows it in a list."""
    shipment = order.shipments.order_by("-created_at").first()
    return {
        "number": order.number,
        "placed_at": order.placed_at.isoformat(),
        "total_cents": order.total_cents,
        "currency": order.currency,
        "customer": {
            "id": order.customer_id,
            "name": order.customer.name,
        },
        "shipment": None
        if shipment is None
        else {
            "carrier": shipment.carrier,
            "tracking": shipment.tracking_number,
            "status": shipment.status,
        },
    }
