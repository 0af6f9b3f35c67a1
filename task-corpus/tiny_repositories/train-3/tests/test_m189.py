from tiny.m189 import f


def test_0():
    assert f(12) == -6


def test_1():
    assert f(8) == -2


def test_2():
    assert f(2) == 4


def test_3():
    assert f(6) == 0


def test_4():
    assert f(10) == -4


def test_5():
    assert f(9) == -3


def test_6():
    assert f(7) == -1


def test_7():
    assert f(5) == 1
