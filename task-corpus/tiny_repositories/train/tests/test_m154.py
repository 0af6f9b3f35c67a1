from tiny.m154 import f


def test_0():
    assert f([1, 4, 7]) == [3, 6, 9, 1]


def test_1():
    assert f([2, 5]) == [4, 7, 1]


def test_2():
    assert f([7, 2]) == [9, 4, 1]


def test_3():
    assert f([8, 5, 6]) == [10, 7, 8, 1]


def test_4():
    assert f([6, 2]) == [8, 4, 1]


def test_5():
    assert f([1, 8, 4, 2]) == [3, 10, 6, 4, 1]


def test_6():
    assert f([1, 5]) == [3, 7, 1]


def test_7():
    assert f([3, 4, 2]) == [5, 6, 4, 1]
