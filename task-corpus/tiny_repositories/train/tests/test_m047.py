from tiny.m047 import f


def test_0():
    assert f(12) == [48, 5]


def test_1():
    assert f(0) == [0, 5]


def test_2():
    assert f(2) == [8, 5]


def test_3():
    assert f(6) == [24, 5]


def test_4():
    assert f(8) == [32, 5]


def test_5():
    assert f(1) == [4, 5]


def test_6():
    assert f(4) == [16, 5]


def test_7():
    assert f(11) == [44, 5]
