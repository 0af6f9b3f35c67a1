from tiny.m084 import f


def test_0():
    assert f(7) == 51


def test_1():
    assert f(1) == 15


def test_2():
    assert f(12) == 81


def test_3():
    assert f(10) == 69


def test_4():
    assert f(0) == 9


def test_5():
    assert f(5) == 39


def test_6():
    assert f(6) == 45


def test_7():
    assert f(8) == 57
