from tiny.m118 import f


def test_0():
    assert f([4, 8, 8, 3]) == [3, 4, 8, 8]


def test_1():
    assert f([0, 8]) == [0, 8]


def test_2():
    assert f([0, 6, 9]) == [0, 6, 9]


def test_3():
    assert f([6, 1, 9]) == [1, 6, 9]


def test_4():
    assert f([0, 3, 1, 4]) == [0, 1, 3, 4]


def test_5():
    assert f([8, 7, 4]) == [4, 7, 8]


def test_6():
    assert f([2, 8, 6]) == [2, 6, 8]


def test_7():
    assert f([3, 9, 8]) == [3, 8, 9]
