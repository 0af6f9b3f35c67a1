from tiny.m000 import f


def test_0():
    assert f(12) == [61, 3]


def test_1():
    assert f(7) == [36, 3]


def test_2():
    assert f(11) == [56, 3]


def test_3():
    assert f(5) == [26, 3]


def test_4():
    assert f(4) == [21, 3]


def test_5():
    assert f(8) == [41, 3]


def test_6():
    assert f(10) == [51, 3]


def test_7():
    assert f(9) == [46, 3]
