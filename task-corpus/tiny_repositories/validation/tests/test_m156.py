from tiny.m156 import f


def test_0():
    assert f([3, 3, 1, 4]) == [3, 9, 9, 12]


def test_1():
    assert f([7, 6, 0]) == [0, 18, 21]


def test_2():
    assert f([9, 8, 3]) == [9, 24, 27]


def test_3():
    assert f([0, 7]) == [0, 21]


def test_4():
    assert f([8, 2]) == [6, 24]


def test_5():
    assert f([1, 4, 7]) == [3, 12, 21]


def test_6():
    assert f([2, 5]) == [6, 15]


def test_7():
    assert f([7, 2]) == [6, 21]
