from tiny.m069 import f


def test_0():
    assert f(4) == 24


def test_1():
    assert f(9) == 83


def test_2():
    assert f(11) == 101


def test_3():
    assert f(12) == 56


def test_4():
    assert f(7) == 65


def test_5():
    assert f(3) == 29


def test_6():
    assert f(6) == 32


def test_7():
    assert f(2) == 16
