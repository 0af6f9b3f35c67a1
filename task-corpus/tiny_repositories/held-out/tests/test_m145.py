from tiny.m145 import f


def test_0():
    assert f(11) == [2, 11, 11, 11]


def test_1():
    assert f(9) == [2, 9, 9, 9]


def test_2():
    assert f(8) == [2, 8, 8, 8]


def test_3():
    assert f(5) == [2, 5, 5, 5]


def test_4():
    assert f(6) == [2, 6, 6, 6]


def test_5():
    assert f(1) == [1, 1, 1, 2]


def test_6():
    assert f(3) == [2, 3, 3, 3]


def test_7():
    assert f(4) == [2, 4, 4, 4]
