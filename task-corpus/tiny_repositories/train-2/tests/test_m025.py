from tiny.m025 import f


def test_0():
    assert f(11) == -2


def test_1():
    assert f(10) == -2


def test_2():
    assert f(6) == -3


def test_3():
    assert f(1) == -5


def test_4():
    assert f(5) == -4


def test_5():
    assert f(4) == -4


def test_6():
    assert f(0) == -5


def test_7():
    assert f(7) == -3
