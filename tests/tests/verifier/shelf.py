"""A shelf."""
COUNTS = {"nuts": 1}


def put(key: str, count: int) -> int:
    """Sets how many there are."""
    COUNTS[key] = count
    return count


TOOLS = [put]


def dump():
    return {"counts": COUNTS}


def check():
    assert all(count >= 0 for count in COUNTS.values())
