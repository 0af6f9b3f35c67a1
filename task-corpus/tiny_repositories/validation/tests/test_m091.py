from tiny.m091 import f


def test_0():
    assert f(6) == [36, 36]


def test_1():
    assert f(1) == [6, 6]


def test_2():
    assert f(8) == [48, 48]


def test_3():
    assert f(10) == [60, 60]


def test_4():
    assert f(12) == [72, 72]


def test_5():
    assert f(9) == [54, 54]


def test_6():
    assert f(7) == [42, 42]


def test_7():
    assert f(3) == [18, 18]
