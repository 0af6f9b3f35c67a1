from tiny.m082 import f


def test_0():
    assert f(1) == 7


def test_1():
    assert f(2) == 7


def test_2():
    assert f(10) == 4


def test_3():
    assert f(9) == 4


def test_4():
    assert f(5) == 6


def test_5():
    assert f(7) == 5


def test_6():
    assert f(8) == 5


def test_7():
    assert f(0) == 7
