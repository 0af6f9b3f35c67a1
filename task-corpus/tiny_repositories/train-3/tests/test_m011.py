from tiny.m011 import f


def test_0():
    assert f(3) == 18


def test_1():
    assert f(5) == 30


def test_2():
    assert f(8) == 48


def test_3():
    assert f(7) == 42


def test_4():
    assert f(0) == 8


def test_5():
    assert f(10) == 60


def test_6():
    assert f(2) == 12


def test_7():
    assert f(12) == 72
