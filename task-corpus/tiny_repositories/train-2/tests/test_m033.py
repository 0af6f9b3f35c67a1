from tiny.m033 import f


def test_0():
    assert f(0) == [0, 0, 0, 0]


def test_1():
    assert f(2) == [12, 12, 12, 12]


def test_2():
    assert f(9) == [54, 54, 54, 54]


def test_3():
    assert f(11) == [66, 66, 66, 66]


def test_4():
    assert f(6) == [36, 36, 36, 36]


def test_5():
    assert f(4) == [24, 24, 24, 24]


def test_6():
    assert f(1) == [6, 6, 6, 6]


def test_7():
    assert f(12) == [72, 72, 72, 72]
