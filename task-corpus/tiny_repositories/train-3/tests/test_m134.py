from tiny.m134 import f


def test_0():
    assert f(7) == [8, 7]


def test_1():
    assert f(9) == [10, 9]


def test_2():
    assert f(10) == [11, 10]


def test_3():
    assert f(6) == [7, 6]


def test_4():
    assert f(1) == []


def test_5():
    assert f(0) == []


def test_6():
    assert f(11) == [12, 11]


def test_7():
    assert f(4) == [5, 4]
