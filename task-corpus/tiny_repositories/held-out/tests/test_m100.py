from tiny.m100 import f


def test_0():
    assert f([9, 2, 7, 4]) == [20, 22]


def test_1():
    assert f([3, 5, 7]) == [35, 37]


def test_2():
    assert f([7, 9, 5, 1]) == [5, 7]


def test_3():
    assert f([4, 2, 4, 1]) == [5, 7]


def test_4():
    assert f([3, 6]) == [30, 32]


def test_5():
    assert f([7, 5, 4]) == [20, 22]


def test_6():
    assert f([3, 2, 8, 8]) == [40, 42]


def test_7():
    assert f([3, 8, 9, 9]) == [45, 47]
