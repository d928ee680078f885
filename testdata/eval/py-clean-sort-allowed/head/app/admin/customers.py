from flask import Blueprint, render_template, request

from app.auth import staff_only
from app.db import connection

bp = Blueprint("admin_customers", __name__)

PAGE_SIZE = 50
MAX_PAGE = 10_000

# What may stand in the query string, and the SQL that it stands for.
SORTS = {
    "name": "name ASC, id ASC",
    "-name": "name DESC, id DESC",
    "created": "created_at ASC, id ASC",
    "-created": "created_at DESC, id DESC",
}

QUERIES = {
    sort: "SELECT id, name, email, created_at FROM customers"
    " WHERE %(country)s::text IS NULL OR country = %(country)s"
    " ORDER BY " + order + " LIMIT %(limit)s OFFSET %(offset)s"
    for sort, order in SORTS.items()
}


@bp.get("/admin/customers")
@staff_only
def customers():
    query = QUERIES.get(request.args.get("sort", ""), QUERIES["name"])
    page = min(max(1, request.args.get("page", default=1, type=int)), MAX_PAGE)
    params = {
        "country": request.args.get("country") or None,
        "limit": PAGE_SIZE,
        "offset": (page - 1) * PAGE_SIZE,
    }
    with connection() as conn, conn.cursor() as cursor:
        cursor.execute(query, params)
        rows = cursor.fetchall()
    return render_template("admin/customers.html", customers=rows, page=page)
