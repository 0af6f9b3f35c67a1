from tiny.m170 import f


def test_0():
    assert f(10) == 17


def test_1():
    assert f(8) == 15


def test_2():
    assert f(5) == 12


def test_3():
    assert f(3) == 10


def test_4():
    assert f(12) == 19


def test_5():
    assert f(4) == 11


def test_6():
    assert f(2) == 9


def test_7():
    assert f(11) == 18
