from tiny.m150 import f


def test_0():
    assert f([1, 1, 9, 3]) == [2, 1, 1, 4, 3]


def test_1():
    assert f([1, 8]) == [2, 1, 3]


def test_2():
    assert f([3, 4]) == [2, 3, 4]


def test_3():
    assert f([2, 3, 5]) == [2, 2, 3, 0]


def test_4():
    assert f([2, 9, 6, 0]) == [2, 2, 4, 1, 0]


def test_5():
    assert f([6, 9, 1, 1]) == [2, 1, 4, 1, 1]


def test_6():
    assert f([2, 4]) == [2, 2, 4]


def test_7():
    assert f([5, 1, 3, 0]) == [2, 0, 1, 3, 0]
