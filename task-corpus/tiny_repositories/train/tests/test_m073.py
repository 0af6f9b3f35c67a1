from tiny.m073 import f


def test_0():
    assert f([7, 3, 8, 8]) == [3, 1, 2, 2]


def test_1():
    assert f([8, 0, 0]) == [0, 0, 2]


def test_2():
    assert f([9, 9, 6]) == [0, 3, 3]


def test_3():
    assert f([2, 9, 1, 2]) == [1, 2, 2, 3]


def test_4():
    assert f([6, 7, 1, 1]) == [1, 1, 0, 1]


def test_5():
    assert f([8, 3, 4, 5]) == [3, 4, 5, 2]


def test_6():
    assert f([4, 7, 4, 7]) == [4, 4, 1, 1]


def test_7():
    assert f([3, 7]) == [3, 1]
