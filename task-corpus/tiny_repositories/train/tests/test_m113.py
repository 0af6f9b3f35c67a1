from tiny.m113 import f


def test_0():
    assert f([1, 1, 2, 7]) == 0


def test_1():
    assert f([5, 2, 3]) == 2


def test_2():
    assert f([1, 8]) == 1


def test_3():
    assert f([6, 7, 2, 6]) == 1


def test_4():
    assert f([7, 7, 1, 8]) == 1


def test_5():
    assert f([7, 6, 9, 9]) == 3


def test_6():
    assert f([4, 4, 1]) == 0


def test_7():
    assert f([9, 2]) == 2
