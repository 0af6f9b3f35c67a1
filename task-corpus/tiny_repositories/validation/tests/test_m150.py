from tiny.m150 import f


def test_0():
    assert f([3, 5, 4]) == [2, 1, 0, 3]


def test_1():
    assert f([5, 2]) == [2, 2, 1]


def test_2():
    assert f([0, 6]) == [2, 2, 0]


def test_3():
    assert f([2, 9]) == [2, 1, 2]


def test_4():
    assert f([3, 6]) == [2, 2, 3]


def test_5():
    assert f([8, 4, 1]) == [2, 0, 0, 1]


def test_6():
    assert f([0, 2, 9, 3]) == [2, 2, 1, 0, 3]


def test_7():
    assert f([2, 9, 0]) == [2, 1, 0, 2]
