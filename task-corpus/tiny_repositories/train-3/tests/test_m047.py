from tiny.m047 import f


def test_0():
    assert f(2) == 7


def test_1():
    assert f(7) == 32


def test_2():
    assert f(11) == 52


def test_3():
    assert f(10) == 47


def test_4():
    assert f(12) == 57


def test_5():
    assert f(4) == 17


def test_6():
    assert f(5) == 22


def test_7():
    assert f(8) == 37
