from tiny.m135 import f


def test_0():
    assert f(12) == [147, 5]


def test_1():
    assert f(4) == [19, 5]


def test_2():
    assert f(5) == [28, 5]


def test_3():
    assert f(6) == [39, 5]


def test_4():
    assert f(10) == [103, 5]


def test_5():
    assert f(3) == [12, 5]


def test_6():
    assert f(11) == [124, 5]


def test_7():
    assert f(1) == [4, 5]
