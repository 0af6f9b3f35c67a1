from tiny.m120 import f


def test_0():
    assert f(5) == [25, 25, 25, 25]


def test_1():
    assert f(1) == [9, 9, 9, 9]


def test_2():
    assert f(2) == [13, 13, 13, 13]


def test_3():
    assert f(11) == [49, 49, 49, 49]


def test_4():
    assert f(0) == [5, 5, 5, 5]


def test_5():
    assert f(4) == [21, 21, 21, 21]


def test_6():
    assert f(8) == [37, 37, 37, 37]


def test_7():
    assert f(3) == [17, 17, 17, 17]
