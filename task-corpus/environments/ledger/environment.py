"""The ledger of a small club: accounts, and double-entry postings whose lines sum to zero. Amounts are whole cents; a
positive line puts money into an account, a negative one takes it out."""

ACCOUNTS = {
    "bank": {"kind": "asset", "floor": 0, "open": True},
    "cash": {"kind": "asset", "floor": 0, "open": True},
    "dues": {"kind": "income", "floor": None, "open": True},
    "events": {"kind": "expense", "floor": None, "open": True},
    "gifts": {"kind": "income", "floor": None, "open": True},
    "rent": {"kind": "expense", "floor": None, "open": True},
    "reserve": {"kind": "asset", "floor": 0, "open": True},
    "snacks": {"kind": "expense", "floor": None, "open": True},
}
KINDS = ("asset", "income", "expense")


def posting(day, memo, lines, reverses=None):
    return {"day": day, "memo": memo, "lines": dict(sorted(lines.items())), "reverses": reverses}


POSTINGS = {
    1: posting(1, "opening", {"bank": 250000, "cash": 12000, "reserve": 60000, "gifts": -322000}),
    2: posting(2, "dues January", {"bank": 48000, "dues": -48000}),
    3: posting(3, "rent January", {"bank": -85000, "rent": 85000}),
    4: posting(5, "snacks", {"cash": -2350, "snacks": 2350}),
    5: posting(9, "summer party, deposit", {"bank": -40000, "events": 40000}),
    6: posting(9, "summer party, deposit", {"bank": -40000, "events": 40000}),
    7: posting(12, "gift of Ines", {"cash": 5000, "gifts": -5000}),
    8: posting(14, "snacks", {"cash": -1780, "snacks": 1780}),
    9: posting(15, "chess evening", {"cash": -3300, "events": 3300}),
    10: posting(20, "to the reserve", {"bank": -10000, "reserve": 10000}),
}


def account_of(name, usable=False):
    if name not in ACCOUNTS:
        raise KeyError(f"there is no account {name!r}")
    if usable and not ACCOUNTS[name]["open"]:
        raise ValueError(f"account {name} is closed")
    return ACCOUNTS[name]


def sum_of(name):
    return sum(posting["lines"].get(name, 0) for posting in POSTINGS.values())


def posting_of(number):
    if number not in POSTINGS:
        raise KeyError(f"there is no posting {number}")
    return POSTINGS[number]


def shown(number):
    return {"number": number, **POSTINGS[number], "lines": dict(POSTINGS[number]["lines"])}


def add_posting(day, memo, lines, reverses=None):
    if not 1 <= day <= 31:
        raise ValueError(f"days go from 1 to 31, not {day}")
    if not memo.strip():
        raise ValueError("a posting needs a memo")
    if len(lines) < 2 or sum(lines.values()) or not all(lines.values()):
        raise ValueError("a posting has two lines or more, none of them zero, that sum to zero")
    for name, cents in lines.items():
        floor = account_of(name, usable=True)["floor"]
        if cents < 0 and floor is not None and sum_of(name) + cents < floor:
            raise ValueError(f"{name} holds {sum_of(name)} and may not fall below {floor}")
    number = max(POSTINGS) + 1
    POSTINGS[number] = posting(day, memo, lines, reverses)
    return number


# Tools.


def list_accounts() -> list:
    """The names of all accounts, sorted."""
    return sorted(ACCOUNTS)


def get_account(name: str) -> dict:
    """One account: name, kind ("asset", "income" or "expense"), floor (what it may not fall below, or None), open,
    balance in cents."""
    return {"name": name, **account_of(name), "balance": sum_of(name)}


def list_postings(account: str) -> list:
    """The numbers of the postings that touch an account, rising."""
    account_of(account)
    return sorted(number for number, item in POSTINGS.items() if account in item["lines"])


def get_posting(number: int) -> dict:
    """One posting: number, day, memo, lines (account to cents), reverses (the number of the posting it takes back, or
    None)."""
    posting_of(number)
    return shown(number)


def transfer(source: str, target: str, cents: int, day: int, memo: str) -> int:
    """Posts `cents` from one account to another; returns the posting's number."""
    if cents < 1:
        raise ValueError(f"an amount is at least 1 cent, not {cents}")
    if source == target:
        raise ValueError("source and target are one account")
    return add_posting(day, memo, {source: -cents, target: cents})


def post(day: int, memo: str, lines: dict[str, int]) -> int:
    """Posts several lines (account to cents) that sum to zero; returns the posting's number."""
    return add_posting(day, memo, lines)


def reverse(number: int, day: int) -> int:
    """Takes a posting back by one with the opposite lines; returns the new number. A posting is reversed once at most."""
    item = posting_of(number)
    if item["reverses"] is not None:
        raise ValueError(f"posting {number} is itself a reversal")
    if any(other["reverses"] == number for other in POSTINGS.values()):
        raise ValueError(f"posting {number} has been reversed already")
    return add_posting(day, f"reversal of {number}", {name: -cents for name, cents in item["lines"].items()}, number)


def open_account(name: str, kind: str) -> None:
    """Opens an account of kind "asset", "income" or "expense". An asset may not fall below 0."""
    if name in ACCOUNTS:
        raise ValueError(f"there is an account {name!r} already")
    if not name.isidentifier() or len(name) > 40:
        raise ValueError(f"{name!r} is no name for an account")
    if kind not in KINDS:
        raise ValueError(f"an account's kind is one of {', '.join(KINDS)}, not {kind!r}")
    ACCOUNTS[name] = {"kind": kind, "floor": 0 if kind == "asset" else None, "open": True}


def close_account(name: str) -> None:
    """Closes an account whose balance is zero."""
    account = account_of(name, usable=True)
    if sum_of(name):
        raise ValueError(f"account {name} holds {sum_of(name)}; only an empty one is closed")
    account["open"] = False


def set_floor(name: str, cents: int | None) -> None:
    """Sets what an asset may not fall below, at most what it holds; None is no floor."""
    account = account_of(name, usable=True)
    if account["kind"] != "asset":
        raise ValueError(f"account {name} is no asset")
    if cents is not None and cents > sum_of(name):
        raise ValueError(f"account {name} holds {sum_of(name)}, which is below {cents}")
    account["floor"] = cents


TOOLS = [
    list_accounts, get_account, list_postings, get_posting, transfer, post, reverse, open_account, close_account, set_floor,
]


def dump():
    balances = {name: sum_of(name) for name in sorted(ACCOUNTS)}
    return {"accounts": dict(sorted(ACCOUNTS.items())), "postings": POSTINGS, "balances": balances}


def check():
    for number, item in POSTINGS.items():
        assert sum(item["lines"].values()) == 0, f"posting {number} does not sum to zero"
        assert set(item["lines"]) <= set(ACCOUNTS), f"posting {number} names an unknown account"
    for name, account in ACCOUNTS.items():
        assert account["floor"] is None or sum_of(name) >= account["floor"], f"{name} is below its floor"
        assert account["open"] or sum_of(name) == 0, f"{name} is closed and not empty"
    assert list(POSTINGS) == list(range(1, len(POSTINGS) + 1)), "a posting is missing"
