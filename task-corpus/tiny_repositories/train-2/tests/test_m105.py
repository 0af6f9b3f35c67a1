from tiny.m105 import f


def test_0():
    assert f([7, 9]) == [27, 33]


def test_1():
    assert f([2, 1, 7]) == [12, 9, 27]


def test_2():
    assert f([3, 7, 2, 8]) == [15, 27, 12, 30]


def test_3():
    assert f([9, 0, 3]) == [33, 6, 15]


def test_4():
    assert f([2, 1, 0, 9]) == [12, 9, 6, 33]


def test_5():
    assert f([5, 3, 0, 4]) == [21, 15, 6, 18]


def test_6():
    assert f([2, 9, 1, 4]) == [12, 33, 9, 18]


def test_7():
    assert f([9, 5]) == [33, 21]
