from tiny.m104 import f


def test_0():
    assert f([1, 1]) == [10, 10]


def test_1():
    assert f([0, 2]) == [9, 11]


def test_2():
    assert f([9, 1]) == [10, 18]


def test_3():
    assert f([5, 7, 6]) == [14, 15, 16]


def test_4():
    assert f([4, 9, 3, 5]) == [12, 13, 14, 18]


def test_5():
    assert f([8, 4, 2, 1]) == [10, 11, 13, 17]


def test_6():
    assert f([4, 2]) == [11, 13]


def test_7():
    assert f([7, 6]) == [15, 16]
