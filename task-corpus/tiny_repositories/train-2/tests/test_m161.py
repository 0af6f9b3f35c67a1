from tiny.m161 import f


def test_0():
    assert f(4) == 3


def test_1():
    assert f(7) == 6


def test_2():
    assert f(10) == 9


def test_3():
    assert f(0) == -1


def test_4():
    assert f(8) == 7


def test_5():
    assert f(1) == 0


def test_6():
    assert f(6) == 5


def test_7():
    assert f(2) == 1
