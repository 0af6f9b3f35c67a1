from tiny.m066 import f


def test_0():
    assert f([4, 3, 9]) == [3, 4, 9]


def test_1():
    assert f([1, 4, 2]) == [1, 2, 4]


def test_2():
    assert f([9, 3]) == [9, 3]


def test_3():
    assert f([8, 6]) == [8, 6]


def test_4():
    assert f([0, 9, 9, 1]) == [0, 1, 9, 9]


def test_5():
    assert f([6, 0]) == [6, 0]


def test_6():
    assert f([1, 8, 3, 0]) == [0, 1, 3, 8]


def test_7():
    assert f([1, 1, 5, 5]) == [1, 1, 5, 5]
