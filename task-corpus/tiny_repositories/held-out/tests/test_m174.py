from tiny.m174 import f


def test_0():
    assert f([4, 8, 1, 3]) == 8


def test_1():
    assert f([0, 3]) == [0]


def test_2():
    assert f([7, 2, 5]) == 7


def test_3():
    assert f([9, 7, 7, 9]) == 9


def test_4():
    assert f([9, 0, 2]) == 9


def test_5():
    assert f([7, 7, 0, 2]) == 7


def test_6():
    assert f([3, 9, 0, 8]) == 9


def test_7():
    assert f([3, 8, 4, 0]) == 8
