from tiny.m142 import f


def test_0():
    assert f(11) == [38, 42]


def test_1():
    assert f(12) == [41, 45]


def test_2():
    assert f(7) == [26, 30]


def test_3():
    assert f(8) == [29, 33]


def test_4():
    assert f(9) == [32, 36]


def test_5():
    assert f(10) == [35, 39]


def test_6():
    assert f(3) == [14, 18]


def test_7():
    assert f(2) == [11, 15]
