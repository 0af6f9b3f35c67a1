from tiny.m025 import f


def test_0():
    assert f(12) == [45, 45, 45]


def test_1():
    assert f(7) == [40, 40, 40]


def test_2():
    assert f(10) == [43, 43, 43]


def test_3():
    assert f(11) == [44, 44, 44]


def test_4():
    assert f(3) == [36, 36, 36]


def test_5():
    assert f(1) == [34, 34, 34]


def test_6():
    assert f(0) == [33, 33, 33]


def test_7():
    assert f(4) == [37, 37, 37]
