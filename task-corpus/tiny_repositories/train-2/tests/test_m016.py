from tiny.m016 import f


def test_0():
    assert f(0) == 1


def test_1():
    assert f(12) == 33


def test_2():
    assert f(10) == 17


def test_3():
    assert f(9) == 9


def test_4():
    assert f(4) == 33


def test_5():
    assert f(8) == 1


def test_6():
    assert f(1) == 9


def test_7():
    assert f(7) == 57
