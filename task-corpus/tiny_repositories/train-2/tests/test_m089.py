from tiny.m089 import f


def test_0():
    assert f(0) == [0, 5]


def test_1():
    assert f(3) == [24, 5]


def test_2():
    assert f(5) == [40, 5]


def test_3():
    assert f(8) == [64, 5]


def test_4():
    assert f(7) == [56, 5]


def test_5():
    assert f(1) == [8, 5]


def test_6():
    assert f(6) == [48, 5]


def test_7():
    assert f(2) == [16, 5]
