from tiny.m053 import f


def test_0():
    assert f([9, 6, 8, 8]) == [9, 8]


def test_1():
    assert f([8, 7]) == [8]


def test_2():
    assert f([0, 4]) == [4]


def test_3():
    assert f([1, 9, 8]) == [1, 8]


def test_4():
    assert f([4, 4, 2, 9]) == [4, 2]


def test_5():
    assert f([7, 0]) == [7]


def test_6():
    assert f([6, 6, 7, 8]) == [6, 7]


def test_7():
    assert f([2, 1, 3]) == [2, 3]
