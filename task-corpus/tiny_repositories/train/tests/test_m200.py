from tiny.m200 import f


def test_0():
    assert f([1, 0, 9, 7]) == [1, 0]


def test_1():
    assert f([3, 7]) == [3, 7]


def test_2():
    assert f([5, 6]) == [5, 6]


def test_3():
    assert f([9, 5, 2]) == [9, 5]


def test_4():
    assert f([3, 1, 4, 9]) == [3, 1]


def test_5():
    assert f([9, 5]) == [9, 5]


def test_6():
    assert f([1, 4, 3]) == [1, 4]


def test_7():
    assert f([4, 3, 0, 6]) == [4, 3]
