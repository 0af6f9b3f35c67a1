from tiny.m024 import f


def test_0():
    assert f([1, 6]) == [6, 1]


def test_1():
    assert f([4, 2, 9, 8]) == [8, 9, 2, 4]


def test_2():
    assert f([3, 9, 0]) == [0, 9, 3]


def test_3():
    assert f([7, 3]) == [3, 7]


def test_4():
    assert f([5, 7, 6, 6]) == [6, 6, 7, 5]


def test_5():
    assert f([8, 4]) == [4, 8]


def test_6():
    assert f([2, 7, 1]) == [1, 7, 2]


def test_7():
    assert f([4, 8]) == [8, 4]
