from tiny.m180 import f


def test_0():
    assert f([3, 9]) == [7, 9]


def test_1():
    assert f([1, 6, 1]) == [7, 1, 6]


def test_2():
    assert f([9, 2, 0, 4]) == [7, 4, 0, 2]


def test_3():
    assert f([9, 4, 9]) == [7, 9, 4]


def test_4():
    assert f([9, 3, 1, 3]) == [7, 3, 1, 3]


def test_5():
    assert f([3, 1, 0, 4]) == [7, 4, 0, 1]


def test_6():
    assert f([9, 4, 3]) == [7, 3, 4]


def test_7():
    assert f([6, 2, 5]) == [7, 5, 2]
