from tiny.m031 import f


def test_0():
    assert f([2, 1]) == [3, 3, 7]


def test_1():
    assert f([6, 5, 3, 8]) == [3, 9, 7]


def test_2():
    assert f([1, 5, 2]) == [3, 6, 7]


def test_3():
    assert f([8, 8]) == [3, 9, 7]


def test_4():
    assert f([7, 4]) == [3, 8, 7]


def test_5():
    assert f([2, 2]) == [3, 3, 7]


def test_6():
    assert f([1, 7, 2, 2]) == [3, 8, 7]


def test_7():
    assert f([9, 4, 4]) == [3, 10, 7]
