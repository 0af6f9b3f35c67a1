from tiny.m128 import f


def test_0():
    assert f([1, 8, 9, 8]) == 27


def test_1():
    assert f([9, 9]) == 19


def test_2():
    assert f([7, 2]) == 10


def test_3():
    assert f([9, 4, 2, 5]) == 21


def test_4():
    assert f([5, 2]) == 8


def test_5():
    assert f([8, 3]) == 12


def test_6():
    assert f([6, 6, 3]) == 16


def test_7():
    assert f([7, 3, 7]) == 18
