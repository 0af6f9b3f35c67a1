from tiny.m224 import f


def test_0():
    assert f(6) == [36, 40]


def test_1():
    assert f(10) == [60, 64]


def test_2():
    assert f(11) == [66, 70]


def test_3():
    assert f(0) == [0, 4]


def test_4():
    assert f(9) == [54, 58]


def test_5():
    assert f(2) == [12, 16]


def test_6():
    assert f(7) == [42, 46]


def test_7():
    assert f(3) == [18, 22]
