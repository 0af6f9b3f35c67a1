from tiny.m014 import f


def test_0():
    assert f([5, 0]) == [0, 5]


def test_1():
    assert f([7, 8]) == [8, 7]


def test_2():
    assert f([1, 0, 0, 4]) == [4, 0]


def test_3():
    assert f([0, 4]) == [4, 0]


def test_4():
    assert f([2, 0, 9]) == [9, 0]


def test_5():
    assert f([8, 9]) == [9, 8]


def test_6():
    assert f([8, 8]) == [8, 8]


def test_7():
    assert f([5, 8, 5]) == [5, 8]
