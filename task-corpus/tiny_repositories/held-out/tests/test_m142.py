from tiny.m142 import f


def test_0():
    assert f([3, 5, 9, 7]) == [24, 34, 54, 44]


def test_1():
    assert f([3, 8]) == [24, 49]


def test_2():
    assert f([7, 9]) == [44, 54]


def test_3():
    assert f([8, 3, 4]) == [49, 24, 29]


def test_4():
    assert f([8, 5]) == [49, 34]


def test_5():
    assert f([6, 4]) == [39, 29]


def test_6():
    assert f([9, 4, 8]) == [54, 29, 49]


def test_7():
    assert f([8, 8, 7]) == [49, 49, 44]
