from tiny.m104 import f


def test_0():
    assert f(10) == 30


def test_1():
    assert f(12) == 32


def test_2():
    assert f(7) == 30


def test_3():
    assert f(9) == 32


def test_4():
    assert f(4) == 24


def test_5():
    assert f(5) == 28


def test_6():
    assert f(11) == 28


def test_7():
    assert f(0) == 32
