from tiny.m197 import f


def test_0():
    assert f([4, 8, 5]) == [3, 4, 8, 5]


def test_1():
    assert f([7, 7]) == [3, 7, 7]


def test_2():
    assert f([4, 4, 9, 8]) == [3, 4, 4, 9, 8]


def test_3():
    assert f([2, 9, 6, 2]) == [3, 2, 9, 6, 2]


def test_4():
    assert f([1, 3]) == [3, 1]


def test_5():
    assert f([0, 9]) == [9, 0]


def test_6():
    assert f([4, 9, 9]) == [3, 4, 9, 9]


def test_7():
    assert f([6, 7, 0, 2]) == [3, 6, 7, 0, 2]
