def check(found, expected):
    assert found == expected
