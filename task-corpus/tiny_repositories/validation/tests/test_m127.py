from tiny.m127 import f


def test_0():
    assert f(9) == [4, 11]


def test_1():
    assert f(10) == [5, 12]


def test_2():
    assert f(12) == [6, 13]


def test_3():
    assert f(1) == [0, 7]


def test_4():
    assert f(7) == [3, 10]


def test_5():
    assert f(8) == [4, 11]


def test_6():
    assert f(6) == [3, 10]


def test_7():
    assert f(2) == [1, 8]
