from tiny.m064 import f


def test_0():
    assert f([2, 3, 1]) == [3, 10]


def test_1():
    assert f([1, 0]) == [1, 8]


def test_2():
    assert f([3, 5, 2]) == [5, 12]


def test_3():
    assert f([4, 3, 9, 5]) == [9, 16]


def test_4():
    assert f([4, 5, 2]) == [5, 12]


def test_5():
    assert f([0, 4, 4]) == [4, 11]


def test_6():
    assert f([7, 0, 7]) == [7, 14]


def test_7():
    assert f([2, 3, 4, 7]) == [7, 14]
