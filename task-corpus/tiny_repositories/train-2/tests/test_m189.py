from tiny.m189 import f


def test_0():
    assert f(4) == [4, 9]


def test_1():
    assert f(10) == [10, 15]


def test_2():
    assert f(3) == [3, 8]


def test_3():
    assert f(5) == [5, 10]


def test_4():
    assert f(9) == [9, 14]


def test_5():
    assert f(8) == [8, 13]


def test_6():
    assert f(7) == [7, 12]


def test_7():
    assert f(1) == [1, 6]
