from tiny.m076 import f


def test_0():
    assert f([3, 2]) == [2, 3]


def test_1():
    assert f([8, 3, 5]) == [3, 5, 8]


def test_2():
    assert f([4, 6, 0, 2]) == [1, 2, 4, 6]


def test_3():
    assert f([9, 1, 1]) == [1, 1, 9]


def test_4():
    assert f([6, 5]) == [5, 6]


def test_5():
    assert f([9, 6]) == [6, 9]


def test_6():
    assert f([7, 9]) == [7, 9]


def test_7():
    assert f([9, 2, 9, 3]) == [2, 3, 9, 9]
