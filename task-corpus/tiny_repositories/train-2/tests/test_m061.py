from tiny.m061 import f


def test_0():
    assert f([1, 6]) == [10]


def test_1():
    assert f([0, 1, 6, 1]) == [5, 10, 5]


def test_2():
    assert f([9, 4, 2]) == [8, 6]


def test_3():
    assert f([9, 5, 1]) == [9, 5]


def test_4():
    assert f([3, 9, 2]) == [13, 6]


def test_5():
    assert f([5, 0]) == []


def test_6():
    assert f([4, 6, 0]) == [10]


def test_7():
    assert f([9, 5, 0]) == [9]
