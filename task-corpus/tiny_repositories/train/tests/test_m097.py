from tiny.m097 import f


def test_0():
    assert f([7, 9, 9, 2]) == [0, 1, 1, 1]


def test_1():
    assert f([3, 5]) == [1, 1]


def test_2():
    assert f([3, 7, 8]) == [0, 1, 1]


def test_3():
    assert f([6, 8]) == [0, 0]


def test_4():
    assert f([7, 9]) == [1, 1]


def test_5():
    assert f([1, 6, 8, 9]) == [1, 0, 0, 1]


def test_6():
    assert f([8, 0, 8, 1]) == [1, 0, 0, 0]


def test_7():
    assert f([7, 7, 9, 0]) == [0, 1, 1, 1]
