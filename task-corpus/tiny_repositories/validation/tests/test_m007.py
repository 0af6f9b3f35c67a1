from tiny.m007 import f


def test_0():
    assert f(10) == [50, 54]


def test_1():
    assert f(3) == [15, 19]


def test_2():
    assert f(0) == [0, 4]


def test_3():
    assert f(11) == [55, 59]


def test_4():
    assert f(5) == [25, 29]


def test_5():
    assert f(6) == [30, 34]


def test_6():
    assert f(1) == [5, 9]


def test_7():
    assert f(2) == [10, 14]
