from tiny.m122 import f


def test_0():
    assert f([7, 7]) == 4


def test_1():
    assert f([7, 8, 2]) == 10


def test_2():
    assert f([0, 6]) == 10


def test_3():
    assert f([5, 1, 2, 9]) == 12


def test_4():
    assert f([9, 3, 4, 1]) == 12


def test_5():
    assert f([2, 1]) == 5


def test_6():
    assert f([9, 2]) == 11


def test_7():
    assert f([3, 3]) == 4
