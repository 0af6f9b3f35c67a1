from tiny.m171 import f


def test_0():
    assert f(5) == [10, 6]


def test_1():
    assert f(0) == [0, 4]


def test_2():
    assert f(9) == [18, 6]


def test_3():
    assert f(4) == [8, 6]


def test_4():
    assert f(6) == [12, 6]


def test_5():
    assert f(10) == [20, 6]


def test_6():
    assert f(8) == [16, 6]


def test_7():
    assert f(2) == [2, 6]
