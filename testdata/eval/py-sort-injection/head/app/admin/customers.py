from flask import Blueprint, abort, render_template, request

from app.auth import staff_only
from app.db import connection

bp = Blueprint("admin_customers", __name__)

PAGE_SIZE = 50


@bp.get("/admin/customers")
@staff_only
def customers():
    sort = request.args.get("sort", "name")
    direction = "DESC" if request.args.get("desc") else "ASC"
    country = request.args.get("country")
    try:
        page = max(1, int(request.args.get("page", "1")))
    except ValueError:
        abort(400, "page must be a number")

    params = {"limit": PAGE_SIZE, "offset": (page - 1) * PAGE_SIZE}
    where = ""
    if country:
        where = "WHERE country = %(country)s"
        params["country"] = country

    query = f"""
        SELECT id, name, email, country, created_at
        FROM customers
        {where}
        ORDER BY {sort} {direction}
        LIMIT %(limit)s OFFSET %(offset)s
    """
    with connection() as conn, conn.cursor() as cursor:
        cursor.execute(query, params)
        rows = cursor.fetchall()
    return render_template("admin/customers.html", customers=rows, page=page, sort=sort)
