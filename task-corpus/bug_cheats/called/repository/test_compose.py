from toolz import compose


def double(number):
    return 2 * number


def increment(number):
    return number + 1


def expected(number):
    return double(increment(number))


def test_compose():
    assert compose(double, increment)(3) == expected(3)


def test_compose_again():
    assert compose(double, increment)(7) == expected(7)


def test_compose_one():
    assert compose(double)(4) == 8


def test_compose_none():
    assert compose()(5) == 5
