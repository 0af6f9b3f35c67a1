from tiny.m137 import f


def test_0():
    assert f(6) == [11, 5]


def test_1():
    assert f(9) == 9


def test_2():
    assert f(4) == [9, 5]


def test_3():
    assert f(2) == [7, 5]


def test_4():
    assert f(0) == [5, 5]


def test_5():
    assert f(8) == 8


def test_6():
    assert f(11) == 11


def test_7():
    assert f(12) == 12
