from tiny.m188 import f


def test_0():
    assert f(6) == 36


def test_1():
    assert f(12) == 30


def test_2():
    assert f(10) == 18


def test_3():
    assert f(4) == 24


def test_4():
    assert f(9) == 12


def test_5():
    assert f(7) == 0


def test_6():
    assert f(5) == 30


def test_7():
    assert f(8) == 6
