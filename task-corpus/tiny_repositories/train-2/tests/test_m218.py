from tiny.m218 import f


def test_0():
    assert f(0) == [6, 9]


def test_1():
    assert f(6) == [14, 17]


def test_2():
    assert f(10) == [26, 29]


def test_3():
    assert f(2) == [8, 11]


def test_4():
    assert f(7) == [15, 18]


def test_5():
    assert f(9) == [17, 20]


def test_6():
    assert f(12) == [28, 31]


def test_7():
    assert f(4) == [10, 13]
