from tiny.m016 import f


def test_0():
    assert f([4, 3]) == [3, 4]


def test_1():
    assert f([5, 2, 4]) == [2, 5]


def test_2():
    assert f([6, 2, 6, 9]) == [2, 2]


def test_3():
    assert f([8, 0, 2]) == [0, 2]


def test_4():
    assert f([4, 9]) == [4, 4]


def test_5():
    assert f([1, 2, 9, 6]) == [1, 2]


def test_6():
    assert f([1, 4, 3]) == [1, 4]


def test_7():
    assert f([4, 5]) == [4, 5]
