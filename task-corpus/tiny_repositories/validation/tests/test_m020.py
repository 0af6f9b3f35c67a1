from tiny.m020 import f


def test_0():
    assert f(10) == [10, 19, 5]


def test_1():
    assert f(2) == [2, 11, 5]


def test_2():
    assert f(1) == [1, 10, 5]


def test_3():
    assert f(12) == [12, 21, 5]


def test_4():
    assert f(0) == [0, 9, 5]


def test_5():
    assert f(8) == [8, 17, 5]


def test_6():
    assert f(3) == [3, 12, 5]


def test_7():
    assert f(9) == [9, 18, 5]
