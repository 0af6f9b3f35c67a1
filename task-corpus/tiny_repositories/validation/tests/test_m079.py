from tiny.m079 import f


def test_0():
    assert f([4, 9]) == [5, 9, 4]


def test_1():
    assert f([8, 2]) == [5, 8]


def test_2():
    assert f([1, 3]) == [5, 3]


def test_3():
    assert f([8, 7, 8]) == [5, 8, 7, 8]


def test_4():
    assert f([7, 5]) == [5, 5, 7]


def test_5():
    assert f([7, 3, 1, 2]) == [5, 3, 7]


def test_6():
    assert f([6, 4, 6]) == [5, 6, 4, 6]


def test_7():
    assert f([9, 0, 9]) == [5, 9, 9]
