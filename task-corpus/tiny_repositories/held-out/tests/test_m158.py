from tiny.m158 import f


def test_0():
    assert f([7, 0]) == [10]


def test_1():
    assert f([9, 1, 1]) == [4, 12]


def test_2():
    assert f([9, 9, 1, 9]) == [12, 4, 12]


def test_3():
    assert f([4, 9]) == [7]


def test_4():
    assert f([3, 4, 5]) == [7, 6]


def test_5():
    assert f([7, 4, 6]) == [7, 10]


def test_6():
    assert f([5, 2, 7]) == [5, 8]


def test_7():
    assert f([5, 9, 5, 2]) == [12, 8, 8]
