from tiny.m050 import f


def test_0():
    assert f(2) == 2


def test_1():
    assert f(12) == 4


def test_2():
    assert f(1) == 1


def test_3():
    assert f(6) == 6


def test_4():
    assert f(8) == 0


def test_5():
    assert f(10) == 2


def test_6():
    assert f(9) == 1


def test_7():
    assert f(0) == 0
