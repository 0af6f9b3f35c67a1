from tiny.m122 import f


def test_0():
    assert f([0, 9, 5]) == [6, 0]


def test_1():
    assert f([6, 8, 5]) == [6, 35]


def test_2():
    assert f([5, 2, 8, 6]) == [6, 0]


def test_3():
    assert f([7, 4]) == [6, 28]


def test_4():
    assert f([8, 8, 5, 2]) == [6, 14]


def test_5():
    assert f([1, 9, 7, 4]) == [6, 0]


def test_6():
    assert f([2, 5]) == [6, 0]


def test_7():
    assert f([2, 8]) == [6, 21]
