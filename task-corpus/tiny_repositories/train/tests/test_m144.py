from tiny.m144 import f


def test_0():
    assert f(7) == 16


def test_1():
    assert f(11) == 20


def test_2():
    assert f(4) == 13


def test_3():
    assert f(5) == 14


def test_4():
    assert f(0) == 9


def test_5():
    assert f(10) == 19


def test_6():
    assert f(6) == 15


def test_7():
    assert f(8) == 17
