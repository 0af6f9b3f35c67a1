from tiny.m190 import f


def test_0():
    assert f(1) == [1, 9]


def test_1():
    assert f(2) == [2, 10]


def test_2():
    assert f(11) == [5, 13]


def test_3():
    assert f(7) == [5, 13]


def test_4():
    assert f(12) == [5, 13]


def test_5():
    assert f(3) == [3, 11]


def test_6():
    assert f(5) == [5, 13]


def test_7():
    assert f(4) == [4, 12]
