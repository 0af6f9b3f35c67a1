from tiny.m090 import f


def test_0():
    assert f([9, 2]) == [2, 9]


def test_1():
    assert f([0, 0]) == [0, 0]


def test_2():
    assert f([3, 0]) == [0, 3]


def test_3():
    assert f([1, 3, 8]) == [8, 1, 3]


def test_4():
    assert f([0, 1, 6]) == [6, 0, 1]


def test_5():
    assert f([7, 8]) == [8, 7]


def test_6():
    assert f([9, 7, 5, 2]) == [2, 9, 7, 5]


def test_7():
    assert f([3, 6, 3]) == [3, 3, 6]
