from tiny.m117 import f


def test_0():
    assert f(1) == 48


def test_1():
    assert f(4) == 30


def test_2():
    assert f(8) == 6


def test_3():
    assert f(11) == 12


def test_4():
    assert f(3) == 36


def test_5():
    assert f(6) == 18


def test_6():
    assert f(5) == 24


def test_7():
    assert f(12) == 18
