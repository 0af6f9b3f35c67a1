from tiny.m101 import f


def test_0():
    assert f(4) == [9, 4]


def test_1():
    assert f(7) == [9, 7]


def test_2():
    assert f(9) == [9, 9]


def test_3():
    assert f(1) == [9, 1]


def test_4():
    assert f(6) == [9, 6]


def test_5():
    assert f(0) == [9, 0]


def test_6():
    assert f(2) == [9, 2]


def test_7():
    assert f(3) == [9, 3]
