from tiny.m015 import f


def test_0():
    assert f([9, 8]) == 12


def test_1():
    assert f([0, 2, 7, 2]) == 10


def test_2():
    assert f([4, 8, 0, 7]) == 11


def test_3():
    assert f([8, 9, 2, 7]) == 12


def test_4():
    assert f([0, 1, 2]) == 5


def test_5():
    assert f([7, 6]) == 10


def test_6():
    assert f([5, 2, 5]) == 8


def test_7():
    assert f([0, 1, 8, 8]) == 11
