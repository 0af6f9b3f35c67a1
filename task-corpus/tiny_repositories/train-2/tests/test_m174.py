from tiny.m174 import f


def test_0():
    assert f(6) == -2


def test_1():
    assert f(1) == -17


def test_2():
    assert f(3) == -11


def test_3():
    assert f(0) == -20


def test_4():
    assert f(8) == 4


def test_5():
    assert f(7) == 1


def test_6():
    assert f(2) == -14


def test_7():
    assert f(9) == 7
