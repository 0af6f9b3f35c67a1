from tiny.m088 import f


def test_0():
    assert f(12) == 36


def test_1():
    assert f(1) == 3


def test_2():
    assert f(8) == 24


def test_3():
    assert f(9) == 27


def test_4():
    assert f(3) == 9


def test_5():
    assert f(11) == 33


def test_6():
    assert f(6) == 18


def test_7():
    assert f(5) == 15
