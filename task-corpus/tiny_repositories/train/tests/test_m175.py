from tiny.m175 import f


def test_0():
    assert f(2) == 9


def test_1():
    assert f(7) == 9


def test_2():
    assert f(11) == 11


def test_3():
    assert f(5) == 9


def test_4():
    assert f(8) == 14


def test_5():
    assert f(1) == 9


def test_6():
    assert f(3) == 9


def test_7():
    assert f(6) == 12
