from tiny.m183 import f


def test_0():
    assert f([4, 7, 5]) == [4, 5, 7, 9]


def test_1():
    assert f([5, 0, 3, 4]) == [0, 3, 4, 5, 9]


def test_2():
    assert f([3, 8, 3, 0]) == [0, 3, 3, 8, 9]


def test_3():
    assert f([1, 4]) == [1, 4, 9]


def test_4():
    assert f([7, 4]) == [4, 7, 9]


def test_5():
    assert f([8, 0, 1]) == [0, 1, 8, 9]


def test_6():
    assert f([4, 9, 1, 0]) == [0, 1, 4, 9, 9]


def test_7():
    assert f([3, 2, 8, 5]) == [2, 3, 5, 8, 9]
