from tiny.m021 import f


def test_0():
    assert f(1) == [17, 13]


def test_1():
    assert f(8) == [10, 13]


def test_2():
    assert f(4) == [14, 13]


def test_3():
    assert f(2) == [16, 13]


def test_4():
    assert f(6) == [12, 13]


def test_5():
    assert f(12) == [6, 13]


def test_6():
    assert f(9) == [9, 13]


def test_7():
    assert f(10) == [8, 13]
