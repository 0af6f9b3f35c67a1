from tiny.m101 import f


def test_0():
    assert f([6, 2, 6, 7]) == [6, 4, 6, 7]


def test_1():
    assert f([1, 1]) == [4, 4]


def test_2():
    assert f([5, 8, 3]) == [5, 8, 4]


def test_3():
    assert f([8, 8, 5, 9]) == [8, 8, 5, 9]


def test_4():
    assert f([8, 1]) == [8, 4]


def test_5():
    assert f([3, 8, 0, 8]) == [4, 8, 4, 8]


def test_6():
    assert f([3, 4, 1, 9]) == [4, 4, 4, 9]


def test_7():
    assert f([0, 0, 5]) == [4, 4, 5]
