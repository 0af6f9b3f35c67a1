from tiny.m091 import f


def test_0():
    assert f(11) == [20, 25]


def test_1():
    assert f(12) == [21, 26]


def test_2():
    assert f(5) == [14, 19]


def test_3():
    assert f(0) == [9, 14]


def test_4():
    assert f(8) == [17, 22]


def test_5():
    assert f(10) == [19, 24]


def test_6():
    assert f(6) == [15, 20]


def test_7():
    assert f(1) == [10, 15]
