from tiny.m171 import f


def test_0():
    assert f(5) == [-2, -2, -2]


def test_1():
    assert f(8) == [-5, -5, -5]


def test_2():
    assert f(6) == [-3, -3, -3]


def test_3():
    assert f(3) == [0, 0, 0]


def test_4():
    assert f(7) == [-4, -4, -4]


def test_5():
    assert f(10) == [-7, -7, -7]


def test_6():
    assert f(12) == [-9, -9, -9]


def test_7():
    assert f(0) == [3, 3, 3]
