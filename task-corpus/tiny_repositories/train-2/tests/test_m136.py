from tiny.m136 import f


def test_0():
    assert f(8) == [8, 10]


def test_1():
    assert f(0) == [0, 2]


def test_2():
    assert f(5) == [5, 7]


def test_3():
    assert f(7) == [7, 9]


def test_4():
    assert f(2) == [2, 4]


def test_5():
    assert f(4) == [4, 6]


def test_6():
    assert f(3) == [3, 5]


def test_7():
    assert f(11) == [11, 13]
