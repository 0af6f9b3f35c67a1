from tiny.m123 import f


def test_0():
    assert f([4, 8, 5, 0]) == [0]


def test_1():
    assert f([2, 8, 4]) == [2]


def test_2():
    assert f([5, 9, 0, 5]) == [0]


def test_3():
    assert f([6, 0]) == [0]


def test_4():
    assert f([9, 1]) == [1]


def test_5():
    assert f([0, 7, 8]) == [0]


def test_6():
    assert f([5, 3]) == [3]


def test_7():
    assert f([2, 9, 5, 7]) == [2]
