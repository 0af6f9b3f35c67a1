from tiny.m234 import f


def test_0():
    assert f([4, 3]) == [1, 4, 5]


def test_1():
    assert f([3, 4]) == [1, 5, 4]


def test_2():
    assert f([0, 3, 3, 1]) == [1, 2, 4, 4, 1]


def test_3():
    assert f([3, 9, 8]) == [1, 9, 10, 4]


def test_4():
    assert f([9, 8]) == [1, 9, 10]


def test_5():
    assert f([8, 3]) == [1, 4, 9]


def test_6():
    assert f([8, 2, 0]) == [1, 1, 3, 9]


def test_7():
    assert f([7, 6]) == [1, 7, 8]
