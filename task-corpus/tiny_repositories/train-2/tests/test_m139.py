from tiny.m139 import f


def test_0():
    assert f([6, 9, 9]) == [9, 9]


def test_1():
    assert f([1, 1]) == [1, 1]


def test_2():
    assert f([9, 3, 9, 9]) == [9, 9]


def test_3():
    assert f([6, 3, 3, 2]) == [6, 6]


def test_4():
    assert f([2, 0, 1]) == [2, 2]


def test_5():
    assert f([4, 9]) == [9, 9]


def test_6():
    assert f([2, 6]) == [6, 6]


def test_7():
    assert f([4, 5, 3, 1]) == [5, 5]
