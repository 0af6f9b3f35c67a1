from tiny.m172 import f


def test_0():
    assert f([3, 9, 0, 8]) == [3, 9, 0, 8, 3]


def test_1():
    assert f([3, 8, 4, 0]) == [3, 8, 4, 0, 3]


def test_2():
    assert f([5, 3, 9]) == [5, 3, 9, 3]


def test_3():
    assert f([1, 6, 9, 5]) == [1, 6, 9, 5, 3]


def test_4():
    assert f([7, 7]) == [7, 7, 3]


def test_5():
    assert f([3, 9, 3, 6]) == [3, 9, 3, 6, 3]


def test_6():
    assert f([2, 5, 0, 8]) == [2, 5, 0, 8, 3]


def test_7():
    assert f([8, 6]) == [8, 6, 3]
