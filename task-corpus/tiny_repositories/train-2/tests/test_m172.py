from tiny.m172 import f


def test_0():
    assert f([3, 3]) == [4]


def test_1():
    assert f([4, 9, 3, 7]) == [5, 10, 4]


def test_2():
    assert f([1, 8, 5, 8]) == [2, 9, 6]


def test_3():
    assert f([7, 2]) == [8]


def test_4():
    assert f([4, 2]) == [5]


def test_5():
    assert f([7, 3, 4]) == [8, 4]


def test_6():
    assert f([3, 7, 1, 8]) == [4, 8, 2]


def test_7():
    assert f([6, 3, 4]) == [7, 4]
