from tiny.m127 import f


def test_0():
    assert f([1, 0, 9, 0]) == [9, 0, 1]


def test_1():
    assert f([6, 8, 2, 9]) == [2, 8, 6]


def test_2():
    assert f([6, 9]) == [6]


def test_3():
    assert f([5, 7, 3]) == [7, 5]


def test_4():
    assert f([8, 6]) == [8]


def test_5():
    assert f([5, 0]) == [5]


def test_6():
    assert f([3, 9, 1]) == [9, 3]


def test_7():
    assert f([1, 6]) == [1]
