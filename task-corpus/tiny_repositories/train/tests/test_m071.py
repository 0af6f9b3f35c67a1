from tiny.m071 import f


def test_0():
    assert f([8, 3]) == [8, 3]


def test_1():
    assert f([9, 1, 5, 6]) == [9, 3, 5, 6]


def test_2():
    assert f([3, 8, 9, 8]) == [3, 8, 9, 8]


def test_3():
    assert f([6, 3, 2]) == [6, 3, 3]


def test_4():
    assert f([9, 9]) == [9, 9]


def test_5():
    assert f([5, 1]) == [5, 3]


def test_6():
    assert f([7, 0, 5]) == [7, 3, 5]


def test_7():
    assert f([7, 4, 9, 9]) == [7, 4, 9, 9]
