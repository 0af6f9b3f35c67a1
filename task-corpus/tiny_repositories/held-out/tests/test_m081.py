from tiny.m081 import f


def test_0():
    assert f(3) == [24]


def test_1():
    assert f(11) == [88]


def test_2():
    assert f(5) == [40]


def test_3():
    assert f(2) == [16]


def test_4():
    assert f(6) == [48]


def test_5():
    assert f(9) == [72]


def test_6():
    assert f(4) == [32]


def test_7():
    assert f(0) == [0]
