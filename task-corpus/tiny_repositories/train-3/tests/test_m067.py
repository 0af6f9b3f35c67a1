from tiny.m067 import f


def test_0():
    assert f(4) == [1]


def test_1():
    assert f(11) == [11, 11, 11, 1]


def test_2():
    assert f(0) == [1]


def test_3():
    assert f(1) == [1]


def test_4():
    assert f(3) == [1]


def test_5():
    assert f(9) == [9, 9, 9, 1]


def test_6():
    assert f(12) == [12, 12, 12, 1]


def test_7():
    assert f(2) == [1]
