from tiny.m116 import f


def test_0():
    assert f(9) == 81


def test_1():
    assert f(5) == 45


def test_2():
    assert f(10) == 90


def test_3():
    assert f(0) == 5


def test_4():
    assert f(7) == 63


def test_5():
    assert f(1) == 9


def test_6():
    assert f(8) == 72


def test_7():
    assert f(11) == 99
