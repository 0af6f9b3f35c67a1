from tiny.m007 import f


def test_0():
    assert f(11) == [-6, -6, -6, -6]


def test_1():
    assert f(9) == [-4, -4, -4, -4]


def test_2():
    assert f(5) == [-2, -2, -2, -2]


def test_3():
    assert f(3) == [-2, -2, -2, -2]


def test_4():
    assert f(2) == [-2, -2, -2, -2]


def test_5():
    assert f(12) == [-7, -7, -7, -7]


def test_6():
    assert f(1) == [-2, -2, -2, -2]


def test_7():
    assert f(4) == [-2, -2, -2, -2]
