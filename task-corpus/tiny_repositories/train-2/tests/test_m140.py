from tiny.m140 import f


def test_0():
    assert f(11) == 58


def test_1():
    assert f(9) == 48


def test_2():
    assert f(1) == 8


def test_3():
    assert f(8) == 43


def test_4():
    assert f(6) == 33


def test_5():
    assert f(5) == 28


def test_6():
    assert f(3) == 18


def test_7():
    assert f(7) == 38
