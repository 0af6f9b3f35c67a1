from tiny.m202 import f


def test_0():
    assert f(9) == 19


def test_1():
    assert f(8) == 18


def test_2():
    assert f(2) == 12


def test_3():
    assert f(6) == 16


def test_4():
    assert f(4) == 14


def test_5():
    assert f(5) == 15


def test_6():
    assert f(1) == 11


def test_7():
    assert f(12) == 22
