"""The order desk of a stationery shop: customers, products with a stock, and orders that are placed, paid, changed,
cancelled, shipped and refunded. Amounts are whole cents."""

CUSTOMERS = {
    "C1": {"name": "Mara Lindt", "email": "mara@lindt.example", "tier": "gold", "credit": 0},
    "C2": {"name": "Tobias Reh", "email": "tobias@reh.example", "tier": "basic", "credit": 500},
    "C3": {"name": "Ines Okafor", "email": "ines@okafor.example", "tier": "basic", "credit": 0},
    "C4": {"name": "Jonas Lindt", "email": "jonas@lindt.example", "tier": "gold", "credit": 1250},
}
PRODUCTS = {
    "INK-BLK": {"name": "Ink, black", "price": 890, "stock": 12},
    "INK-BLU": {"name": "Ink, blue", "price": 890, "stock": 3},
    "NIB-F": {"name": "Steel nib, fine", "price": 245, "stock": 40},
    "NIB-M": {"name": "Steel nib, medium", "price": 245, "stock": 0},
    "PAD-A4": {"name": "Letter pad A4", "price": 1290, "stock": 7},
    "PAD-A5": {"name": "Letter pad A5", "price": 790, "stock": 15},
    "PEN-OAK": {"name": "Pen holder, oak", "price": 2650, "stock": 2},
}
ORDERS = {
    "O100": {"customer": "C1", "items": {"INK-BLK": 2, "NIB-F": 4}, "status": "shipped", "paid": 2760, "refunded": 0,
             "address": "Hafenweg 3, Kiel"},
    "O101": {"customer": "C1", "items": {"PAD-A4": 1}, "status": "placed", "paid": 1290, "refunded": 0,
             "address": "Hafenweg 3, Kiel"},
    "O102": {"customer": "C2", "items": {"PEN-OAK": 1, "INK-BLU": 1}, "status": "placed", "paid": 3540, "refunded": 0,
             "address": "Am Anger 17, Jena"},
    "O103": {"customer": "C3", "items": {"PAD-A5": 3}, "status": "shipped", "paid": 2370, "refunded": 790,
             "address": "Ringstr. 88, Ulm"},
    "O104": {"customer": "C4", "items": {"INK-BLU": 2, "PAD-A5": 1}, "status": "placed", "paid": 2570, "refunded": 0,
             "address": "Hafenweg 3, Kiel"},
    "O105": {"customer": "C2", "items": {"NIB-M": 6}, "status": "cancelled", "paid": 1470, "refunded": 1470,
             "address": "Am Anger 17, Jena"},
    "O106": {"customer": "C1", "items": {"NIB-F": 10}, "status": "placed", "paid": 2450, "refunded": 0,
             "address": "Postfach 20, Kiel"},
}
STATUSES = ("placed", "shipped", "cancelled")
HELD = ("placed", "shipped")  # orders whose items have left the stock


def total_of(items):
    return sum(PRODUCTS[sku]["price"] * count for sku, count in items.items())


def held(sku):
    return sum(order["items"].get(sku, 0) for order in ORDERS.values() if order["status"] in HELD)


SUPPLY = {sku: product["stock"] + held(sku) for sku, product in PRODUCTS.items()}


def customer_of(customer_id):
    if customer_id not in CUSTOMERS:
        raise KeyError(f"there is no customer {customer_id!r}")
    return CUSTOMERS[customer_id]


def order_of(order_id, status=None):
    if order_id not in ORDERS:
        raise KeyError(f"there is no order {order_id!r}")
    order = ORDERS[order_id]
    if status is not None and order["status"] != status:
        raise ValueError(f"order {order_id} is {order['status']}, not {status}")
    return order


def shown(order_id):
    order = ORDERS[order_id]
    return {"id": order_id, **order, "items": dict(order["items"]), "total": total_of(order["items"])}


def take_from_stock(sku, count):
    if sku not in PRODUCTS:
        raise KeyError(f"there is no product {sku!r}")
    if count < 1:
        raise ValueError(f"a count must be at least 1, not {count}")
    if count > PRODUCTS[sku]["stock"]:
        raise ValueError(f"only {PRODUCTS[sku]['stock']} of {sku} are in stock, not {count}")


# Tools.


def find_customer(email: str) -> dict:
    """The customer with that e-mail address: id, name, email, tier, credit. KeyError when there is none."""
    for customer_id, customer in CUSTOMERS.items():
        if customer["email"] == email:
            return {"id": customer_id, **customer}
    raise KeyError(f"no customer has the address {email!r}")


def list_customers() -> list:
    """The ids of all customers, sorted."""
    return sorted(CUSTOMERS)


def get_customer(customer_id: str) -> dict:
    """One customer: id, name, email, tier ("gold" or "basic"), credit in cents."""
    return {"id": customer_id, **customer_of(customer_id)}


def list_orders(customer_id: str) -> list:
    """The ids of a customer's orders, sorted."""
    customer_of(customer_id)
    return sorted(order_id for order_id, order in ORDERS.items() if order["customer"] == customer_id)


def get_order(order_id: str) -> dict:
    """One order: id, customer, items (product to count), status ("placed", "shipped" or "cancelled"), paid, refunded,
    address, total. Amounts are in cents."""
    order_of(order_id)
    return shown(order_id)


def list_products() -> list:
    """The ids of all products, sorted."""
    return sorted(PRODUCTS)


def get_product(product_id: str) -> dict:
    """One product: id, name, price in cents, stock."""
    if product_id not in PRODUCTS:
        raise KeyError(f"there is no product {product_id!r}")
    return {"id": product_id, **PRODUCTS[product_id]}


def place_order(customer_id: str, items: dict[str, int], address: str) -> dict:
    """Places and pays an order of `items` (product to count); takes them from the stock. Returns the order."""
    customer_of(customer_id)
    if not items:
        raise ValueError("an order needs at least one item")
    if not address.strip():
        raise ValueError("an order needs an address")
    for sku, count in items.items():
        take_from_stock(sku, count)
    for sku, count in items.items():
        PRODUCTS[sku]["stock"] -= count
    order_id = f"O{100 + len(ORDERS)}"
    ORDERS[order_id] = {"customer": customer_id, "items": dict(sorted(items.items())), "status": "placed",
                        "paid": total_of(items), "refunded": 0, "address": address}
    return shown(order_id)


def add_item(order_id: str, product_id: str, count: int) -> dict:
    """Adds `count` of a product to a placed order; the customer pays for them. Returns the order."""
    order = order_of(order_id, "placed")
    take_from_stock(product_id, count)
    PRODUCTS[product_id]["stock"] -= count
    order["items"][product_id] = order["items"].get(product_id, 0) + count
    order["items"] = dict(sorted(order["items"].items()))
    order["paid"] += PRODUCTS[product_id]["price"] * count
    return shown(order_id)


def cancel_order(order_id: str) -> dict:
    """Cancels a placed order: its items go back into the stock, and what is not refunded yet is refunded. Returns the
    order."""
    order = order_of(order_id, "placed")
    for sku, count in order["items"].items():
        PRODUCTS[sku]["stock"] += count
    order["status"], order["refunded"] = "cancelled", order["paid"]
    return shown(order_id)


def ship_order(order_id: str) -> dict:
    """Marks a placed order as shipped. Returns the order."""
    order_of(order_id, "placed")["status"] = "shipped"
    return shown(order_id)


def change_address(order_id: str, address: str) -> dict:
    """Changes where a placed order goes. Returns the order."""
    order = order_of(order_id, "placed")
    if not address.strip():
        raise ValueError("an order needs an address")
    order["address"] = address
    return shown(order_id)


def refund(order_id: str, cents: int) -> dict:
    """Refunds so many cents of a shipped order, at most what was paid and not refunded yet. Returns the order."""
    order = order_of(order_id, "shipped")
    if cents < 1 or cents > order["paid"] - order["refunded"]:
        raise ValueError(f"from 1 to {order['paid'] - order['refunded']} cents can be refunded, not {cents}")
    order["refunded"] += cents
    return shown(order_id)


def give_credit(customer_id: str, cents: int) -> dict:
    """Adds so many cents to a customer's credit, at most 5000 at once. Returns the customer."""
    customer = customer_of(customer_id)
    if not 1 <= cents <= 5000:
        raise ValueError(f"from 1 to 5000 cents can be given, not {cents}")
    customer["credit"] += cents
    return {"id": customer_id, **customer}


TOOLS = [
    find_customer, list_customers, get_customer, list_orders, get_order, list_products, get_product, place_order,
    add_item, cancel_order, ship_order, change_address, refund, give_credit,
]


def dump():
    return {"customers": CUSTOMERS, "products": PRODUCTS, "orders": ORDERS}


def check():
    for sku, product in PRODUCTS.items():
        assert product["stock"] >= 0, f"{sku} has a negative stock"
        assert product["stock"] + held(sku) == SUPPLY[sku], f"{sku} was lost or made"
    for order_id, order in ORDERS.items():
        assert order["customer"] in CUSTOMERS and order["status"] in STATUSES, order_id
        assert order["items"] and all(count > 0 for count in order["items"].values()), f"{order_id} has empty items"
        assert order["paid"] == total_of(order["items"]), f"{order_id} is not paid in full"
        assert 0 <= order["refunded"] <= order["paid"], f"{order_id} is refunded more than was paid"
    assert all(customer["credit"] >= 0 for customer in CUSTOMERS.values()), "a credit is negative"
