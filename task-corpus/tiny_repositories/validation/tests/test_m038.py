from tiny.m038 import f


def test_0():
    assert f([6, 5, 3, 8]) == [3, 5]


def test_1():
    assert f([1, 5, 2]) == [1, 2]


def test_2():
    assert f([8, 8]) == [8, 8]


def test_3():
    assert f([7, 4]) == [4, 7]


def test_4():
    assert f([2, 2]) == [2, 2]


def test_5():
    assert f([1, 7, 2, 2]) == [1, 2]


def test_6():
    assert f([9, 4, 4]) == [4, 4]


def test_7():
    assert f([0, 1, 8, 3]) == [0, 1]
