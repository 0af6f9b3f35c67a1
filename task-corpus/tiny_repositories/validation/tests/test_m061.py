from tiny.m061 import f


def test_0():
    assert f(4) == 23


def test_1():
    assert f(11) == 51


def test_2():
    assert f(8) == 39


def test_3():
    assert f(1) == 11


def test_4():
    assert f(6) == 31


def test_5():
    assert f(9) == 43


def test_6():
    assert f(12) == 55


def test_7():
    assert f(10) == 47
