from tiny.m015 import f


def test_0():
    assert f(9) == [8, 0]


def test_1():
    assert f(1) == [8, 5]


def test_2():
    assert f(6) == [8, 3]


def test_3():
    assert f(5) == [8, 7]


def test_4():
    assert f(0) == [8, 0]


def test_5():
    assert f(10) == [8, 5]


def test_6():
    assert f(4) == [8, 2]


def test_7():
    assert f(11) == [8, 1]
