from tiny.m030 import f


def test_0():
    assert f(3) == 3


def test_1():
    assert f(1) == 1


def test_2():
    assert f(7) == 0


def test_3():
    assert f(9) == 2


def test_4():
    assert f(12) == 5


def test_5():
    assert f(11) == 4


def test_6():
    assert f(10) == 3


def test_7():
    assert f(0) == 0
