from tiny.m227 import f


def test_0():
    assert f(4) == 25


def test_1():
    assert f(2) == 18


def test_2():
    assert f(3) == 18


def test_3():
    assert f(6) == 32


def test_4():
    assert f(1) == 11


def test_5():
    assert f(7) == 32


def test_6():
    assert f(5) == 25


def test_7():
    assert f(12) == 53
