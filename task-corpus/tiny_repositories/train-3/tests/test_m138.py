from tiny.m138 import f


def test_0():
    assert f(11) == -9


def test_1():
    assert f(12) == -10


def test_2():
    assert f(9) == -7


def test_3():
    assert f(3) == -1


def test_4():
    assert f(1) == 1


def test_5():
    assert f(7) == -5


def test_6():
    assert f(6) == -4


def test_7():
    assert f(4) == -2
