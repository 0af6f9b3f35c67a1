from tiny.m164 import f


def test_0():
    assert f([6, 4, 7, 5]) == [6, 7]


def test_1():
    assert f([9, 9]) == [9, 9]


def test_2():
    assert f([2, 3, 7]) == [7]


def test_3():
    assert f([2, 6]) == [6]


def test_4():
    assert f([7, 6, 3, 8]) == [7, 6, 8]


def test_5():
    assert f([0, 7]) == [7]


def test_6():
    assert f([3, 4]) == []


def test_7():
    assert f([3, 0, 4]) == []
