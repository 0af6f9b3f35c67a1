from tiny.m144 import f


def test_0():
    assert f([0, 9]) == [1, 2, 11]


def test_1():
    assert f([6, 8, 9, 0]) == [1, 8, 10, 11, 2]


def test_2():
    assert f([0, 7]) == [1, 2, 9]


def test_3():
    assert f([2, 7]) == [1, 4, 9]


def test_4():
    assert f([6, 3, 9]) == [1, 8, 5, 11]


def test_5():
    assert f([5, 1]) == [1, 7, 3]


def test_6():
    assert f([9, 8, 1]) == [1, 11, 10, 3]


def test_7():
    assert f([9, 2, 2]) == [1, 11, 4, 4]
