from tiny.m192 import f


def test_0():
    assert f([9, 8]) == [8, 12]


def test_1():
    assert f([4, 4, 3, 6]) == [8, 12]


def test_2():
    assert f([1, 2, 7]) == [1, 5]


def test_3():
    assert f([7, 3, 3]) == [4, 8]


def test_4():
    assert f([1, 1]) == [2, 6]


def test_5():
    assert f([0, 3, 4, 1]) == [8, 12]


def test_6():
    assert f([3, 2]) == [5, 9]


def test_7():
    assert f([8, 4]) == [3, 7]
