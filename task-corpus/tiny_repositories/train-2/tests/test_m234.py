from tiny.m234 import f


def test_0():
    assert f(1) == 1


def test_1():
    assert f(6) == 49


def test_2():
    assert f(8) == 81


def test_3():
    assert f(5) == 25


def test_4():
    assert f(0) == 1


def test_5():
    assert f(4) == 25


def test_6():
    assert f(2) == 9


def test_7():
    assert f(9) == 81
