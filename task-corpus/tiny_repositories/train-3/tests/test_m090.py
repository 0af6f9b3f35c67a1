from tiny.m090 import f


def test_0():
    assert f(5) == [125, 125, 125]


def test_1():
    assert f(11) == [0, 1, 2]


def test_2():
    assert f(4) == [100, 100, 100]


def test_3():
    assert f(7) == [175, 175, 175]


def test_4():
    assert f(12) == []


def test_5():
    assert f(3) == [75, 75, 75]


def test_6():
    assert f(0) == [0, 0, 0]


def test_7():
    assert f(9) == [0]
