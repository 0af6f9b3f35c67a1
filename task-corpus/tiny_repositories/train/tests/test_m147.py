from tiny.m147 import f


def test_0():
    assert f(4) == -7


def test_1():
    assert f(8) == -55


def test_2():
    assert f(3) == 0


def test_3():
    assert f(1) == 8


def test_4():
    assert f(12) == 14


def test_5():
    assert f(11) == 13


def test_6():
    assert f(0) == 9


def test_7():
    assert f(6) == -27
