from tiny.m087 import f


def test_0():
    assert f(3) == 32


def test_1():
    assert f(8) == 42


def test_2():
    assert f(6) == 38


def test_3():
    assert f(0) == 26


def test_4():
    assert f(5) == 36


def test_5():
    assert f(12) == 50


def test_6():
    assert f(9) == 44


def test_7():
    assert f(2) == 30
