from tiny.m091 import f


def test_0():
    assert f([8, 4, 7]) == [4]


def test_1():
    assert f([7, 1]) == []


def test_2():
    assert f([7, 3, 9]) == [3]


def test_3():
    assert f([4, 4, 7, 6]) == [4, 4]


def test_4():
    assert f([5, 5, 8]) == [5, 5]


def test_5():
    assert f([1, 6]) == [1]


def test_6():
    assert f([3, 1, 7, 5]) == [3, 1]


def test_7():
    assert f([4, 0, 6]) == [4, 0]
