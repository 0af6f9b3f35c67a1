from tiny.m019 import f


def test_0():
    assert f([7, 2, 6, 2]) == [2]


def test_1():
    assert f([3, 3]) == [3, 3]


def test_2():
    assert f([2, 4, 7, 6]) == [2, 4]


def test_3():
    assert f([1, 8, 5]) == [1]


def test_4():
    assert f([1, 5, 7, 6]) == [1, 5]


def test_5():
    assert f([1, 4]) == [1, 4]


def test_6():
    assert f([9, 5]) == [5]


def test_7():
    assert f([9, 2]) == [2]
