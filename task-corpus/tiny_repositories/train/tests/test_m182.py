from tiny.m182 import f


def test_0():
    assert f(8) == [16, 0]


def test_1():
    assert f(11) == [-8, 0]


def test_2():
    assert f(6) == [32, 0]


def test_3():
    assert f(12) == [-16, 0]


def test_4():
    assert f(9) == [8, 0]


def test_5():
    assert f(4) == [48, 0]


def test_6():
    assert f(1) == [72, 0]


def test_7():
    assert f(5) == [40, 0]
