from tiny.m071 import f


def test_0():
    assert f(5) == 6


def test_1():
    assert f(9) == -24


def test_2():
    assert f(3) == -6


def test_3():
    assert f(11) == -12


def test_4():
    assert f(2) == -12


def test_5():
    assert f(12) == -6


def test_6():
    assert f(7) == 18


def test_7():
    assert f(0) == -24
