from tiny.m129 import f


def test_0():
    assert f([2, 7, 9]) == [10, 35]


def test_1():
    assert f([4, 6, 3]) == [20, 30]


def test_2():
    assert f([9, 3, 6]) == [45, 15]


def test_3():
    assert f([6, 2, 8]) == [30, 10]


def test_4():
    assert f([8, 4, 3, 4]) == [40, 20]


def test_5():
    assert f([6, 8]) == [30, 40]


def test_6():
    assert f([9, 9]) == [45, 45]


def test_7():
    assert f([6, 8, 1, 4]) == [30, 40]
