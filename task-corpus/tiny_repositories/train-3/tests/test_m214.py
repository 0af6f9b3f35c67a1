from tiny.m214 import f


def test_0():
    assert f([2, 8, 9]) == 4


def test_1():
    assert f([9, 9, 9]) == 18


def test_2():
    assert f([3, 5, 3]) == 6


def test_3():
    assert f([2, 9, 2, 1]) == 2


def test_4():
    assert f([8, 6]) == 12


def test_5():
    assert f([7, 2]) == 4


def test_6():
    assert f([3, 6, 5, 3]) == 6


def test_7():
    assert f([9, 3, 7, 6]) == 6
