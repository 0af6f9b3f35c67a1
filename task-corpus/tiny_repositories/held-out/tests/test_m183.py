from tiny.m183 import f


def test_0():
    assert f([9, 7, 9]) == [9]


def test_1():
    assert f([3, 5]) == []


def test_2():
    assert f([8, 8]) == []


def test_3():
    assert f([5, 7, 0, 5]) == [0]


def test_4():
    assert f([2, 2, 9]) == [9]


def test_5():
    assert f([1, 6]) == []


def test_6():
    assert f([5, 5, 1, 4]) == [1]


def test_7():
    assert f([1, 5, 0]) == [0]
