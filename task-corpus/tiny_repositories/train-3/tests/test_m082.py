from tiny.m082 import f


def test_0():
    assert f(2) == [10, 25]


def test_1():
    assert f(8) == [40, 55]


def test_2():
    assert f(0) == [0, 15]


def test_3():
    assert f(11) == [55, 70]


def test_4():
    assert f(3) == [15, 30]


def test_5():
    assert f(1) == [5, 20]


def test_6():
    assert f(10) == [50, 65]


def test_7():
    assert f(7) == [35, 50]
