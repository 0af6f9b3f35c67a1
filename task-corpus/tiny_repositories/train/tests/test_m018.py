from tiny.m018 import f


def test_0():
    assert f([2, 2, 4, 2]) == [2, 2]


def test_1():
    assert f([5, 9, 5]) == [5, 9]


def test_2():
    assert f([4, 0, 9]) == [4, 0]


def test_3():
    assert f([1, 6, 4, 5]) == [1, 6]


def test_4():
    assert f([6, 0, 4]) == [6, 0]


def test_5():
    assert f([0, 3]) == [0, 3]


def test_6():
    assert f([3, 6]) == [3, 6]


def test_7():
    assert f([7, 2]) == [7, 2]
