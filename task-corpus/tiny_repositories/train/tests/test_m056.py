from tiny.m056 import f


def test_0():
    assert f([4, 5, 8, 6]) == [0, 1, 0, 2]


def test_1():
    assert f([9, 8]) == [1, 0]


def test_2():
    assert f([5, 5, 7, 3]) == [1, 1, 3, 3]


def test_3():
    assert f([9, 6, 5]) == [1, 2, 1]


def test_4():
    assert f([9, 6, 5, 0]) == [1, 2, 1, 0]


def test_5():
    assert f([1, 1, 3, 0]) == [1, 1, 3, 0]


def test_6():
    assert f([5, 8, 9]) == [1, 0, 1]


def test_7():
    assert f([7, 5, 0]) == [3, 1, 0]
