from tiny.m158 import f


def test_0():
    assert f([6, 7]) == [7]


def test_1():
    assert f([4, 9]) == [4]


def test_2():
    assert f([1, 5, 5, 8]) == [8, 5]


def test_3():
    assert f([8, 9, 6, 8]) == [8, 8]


def test_4():
    assert f([1, 9]) == [1]


def test_5():
    assert f([8, 8]) == [8]


def test_6():
    assert f([8, 9]) == [8]


def test_7():
    assert f([2, 8, 4]) == 8
