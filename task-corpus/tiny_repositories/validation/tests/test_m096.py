from tiny.m096 import f


def test_0():
    assert f([7, 7, 9]) == [9, 7, 7, 9]


def test_1():
    assert f([7, 5, 7, 7]) == 5


def test_2():
    assert f([5, 8, 2, 7]) == 2


def test_3():
    assert f([5, 9, 9, 7]) == 5


def test_4():
    assert f([0, 3, 1]) == [9, 0, 3, 1]


def test_5():
    assert f([6, 2, 2]) == [9, 6, 2, 2]


def test_6():
    assert f([6, 4]) == [9, 6, 4]


def test_7():
    assert f([4, 6]) == [9, 4, 6]
