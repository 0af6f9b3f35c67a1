from tiny.m035 import f


def test_0():
    assert f(5) == [7, 12]


def test_1():
    assert f(8) == [7, 15]


def test_2():
    assert f(3) == [7, 10]


def test_3():
    assert f(6) == [7, 13]


def test_4():
    assert f(1) == [7, 8]


def test_5():
    assert f(4) == [7, 11]


def test_6():
    assert f(0) == [7, 7]


def test_7():
    assert f(9) == [7, 16]
