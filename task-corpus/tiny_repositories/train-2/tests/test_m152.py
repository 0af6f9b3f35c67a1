from tiny.m152 import f


def test_0():
    assert f(1) == [5]


def test_1():
    assert f(12) == [5, 6]


def test_2():
    assert f(6) == [5]


def test_3():
    assert f(3) == [5, 6, 7]


def test_4():
    assert f(2) == [5, 6]


def test_5():
    assert f(9) == [5, 6, 7, 8]


def test_6():
    assert f(0) == []


def test_7():
    assert f(10) == []
