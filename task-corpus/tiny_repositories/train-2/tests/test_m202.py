from tiny.m202 import f


def test_0():
    assert f(5) == 13


def test_1():
    assert f(8) == 25


def test_2():
    assert f(6) == 17


def test_3():
    assert f(3) == 5


def test_4():
    assert f(0) == 9


def test_5():
    assert f(12) == 65


def test_6():
    assert f(4) == 9


def test_7():
    assert f(11) == 37
