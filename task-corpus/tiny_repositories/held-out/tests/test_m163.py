from tiny.m163 import f


def test_0():
    assert f([2, 8, 6]) == [2, 6, 8]


def test_1():
    assert f([8, 7, 7, 2]) == [8, 7, 8, 7]


def test_2():
    assert f([0, 7]) == [0, 0]


def test_3():
    assert f([7, 2, 0, 7]) == [7, 0, 7, 0]


def test_4():
    assert f([5, 9, 3, 8]) == [5, 3, 5, 3]


def test_5():
    assert f([3, 7, 5]) == [3, 5, 7]


def test_6():
    assert f([7, 2]) == [7, 7]


def test_7():
    assert f([2, 2, 9]) == [2, 9, 2]
