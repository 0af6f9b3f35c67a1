from tiny.m108 import f


def test_0():
    assert f([6, 3, 7]) == [7, 3, 6]


def test_1():
    assert f([7, 3]) == [3, 7]


def test_2():
    assert f([8, 5, 8, 4]) == 28


def test_3():
    assert f([9, 9, 7, 2]) == 30


def test_4():
    assert f([9, 4, 4]) == 20


def test_5():
    assert f([5, 1, 9, 0]) == [0, 9, 1, 5]


def test_6():
    assert f([0, 6, 7]) == [7, 6, 0]


def test_7():
    assert f([4, 8]) == [8, 4]
