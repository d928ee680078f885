import pytest

from app.admin.customers import QUERIES


@pytest.mark.parametrize("sort", ["", "email", "name; DROP TABLE customers"])
def test_unknown_sorts_are_by_name(staff_client, sort):
    response = staff_client.get("/admin/customers", query_string={"sort": sort})
    assert response.status_code == 200


def test_each_sort_is_a_total_order():
    for query in QUERIES.values():
        assert ", id " in query
