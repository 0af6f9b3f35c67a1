from tiny.m159 import f


def test_0():
    assert f(7) == [4, 8]


def test_1():
    assert f(12) == [9, 13]


def test_2():
    assert f(10) == [7, 11]


def test_3():
    assert f(3) == [0, 4]


def test_4():
    assert f(11) == [8, 12]


def test_5():
    assert f(5) == [2, 6]


def test_6():
    assert f(4) == [1, 5]


def test_7():
    assert f(2) == [1, 5]
