from tiny.m073 import f


def test_0():
    assert f(7) == [10, 1]


def test_1():
    assert f(8) == [11, 2]


def test_2():
    assert f(3) == [12, 3]


def test_3():
    assert f(1) == [10, 1]


def test_4():
    assert f(9) == [12, 3]


def test_5():
    assert f(6) == [9, 0]


def test_6():
    assert f(10) == [13, 4]


def test_7():
    assert f(12) == [9, 0]
