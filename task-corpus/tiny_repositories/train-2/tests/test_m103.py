from tiny.m103 import f


def test_0():
    assert f([9, 4, 5]) == [5, 9, 9, 4]


def test_1():
    assert f([5, 1]) == [1, 9, 5]


def test_2():
    assert f([7, 3, 7]) == [7, 9, 7, 3]


def test_3():
    assert f([3, 0, 9, 3]) == [3, 9, 3, 0, 9]


def test_4():
    assert f([4, 9]) == [9, 9, 4]


def test_5():
    assert f([0, 6, 9, 3]) == [3, 9, 0, 6, 9]


def test_6():
    assert f([6, 2, 7]) == [7, 9, 6, 2]


def test_7():
    assert f([8, 2, 0]) == [0, 9, 8, 2]
