from tiny.m223 import f


def test_0():
    assert f([8, 8]) == [2, 2]


def test_1():
    assert f([0, 1, 3]) == [0, 0, 2]


def test_2():
    assert f([8, 9, 0, 0]) == [0, 2, 2, 2]


def test_3():
    assert f([9, 4]) == [0, 2]


def test_4():
    assert f([1, 2, 0, 2]) == [0, 2, 2, 2]


def test_5():
    assert f([6, 7, 4]) == [0, 2, 2]


def test_6():
    assert f([3, 8, 9, 6]) == [0, 0, 2, 2]


def test_7():
    assert f([5, 3]) == [0, 0]
