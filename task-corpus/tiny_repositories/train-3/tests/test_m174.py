from tiny.m174 import f


def test_0():
    assert f(10) == 15


def test_1():
    assert f(4) == 9


def test_2():
    assert f(0) == 5


def test_3():
    assert f(7) == 12


def test_4():
    assert f(11) == 16


def test_5():
    assert f(9) == 14


def test_6():
    assert f(12) == 17


def test_7():
    assert f(2) == 7
