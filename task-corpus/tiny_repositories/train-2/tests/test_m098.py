from tiny.m098 import f


def test_0():
    assert f(1) == [2, 8, 8]


def test_1():
    assert f(0) == [2, 8, 8]


def test_2():
    assert f(2) == [2, 8, 8]


def test_3():
    assert f(10) == [2, 10, 10]


def test_4():
    assert f(5) == [2, 8, 8]


def test_5():
    assert f(9) == [2, 9, 9]


def test_6():
    assert f(12) == [2, 12, 12]


def test_7():
    assert f(6) == [2, 8, 8]
