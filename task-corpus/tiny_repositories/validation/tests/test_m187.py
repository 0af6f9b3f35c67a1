from tiny.m187 import f


def test_0():
    assert f([2, 1]) == [2, 1, 0]


def test_1():
    assert f([3, 7, 9]) == 19


def test_2():
    assert f([2, 3, 8, 9]) == 22


def test_3():
    assert f([1, 0, 6, 5]) == [1, 0, 6, 5, 0]


def test_4():
    assert f([0, 7]) == [0, 7, 0]


def test_5():
    assert f([5, 9, 5]) == 19


def test_6():
    assert f([0, 3, 8]) == [0, 3, 8, 0]


def test_7():
    assert f([2, 9]) == 11
