from tiny.m131 import f


def test_0():
    assert f(8) == [13, 15]


def test_1():
    assert f(9) == [14, 16]


def test_2():
    assert f(7) == [7, 9]


def test_3():
    assert f(12) == [17, 19]


def test_4():
    assert f(3) == [6, 8]


def test_5():
    assert f(4) == [6, 8]


def test_6():
    assert f(0) == [6, 8]


def test_7():
    assert f(10) == [15, 17]
