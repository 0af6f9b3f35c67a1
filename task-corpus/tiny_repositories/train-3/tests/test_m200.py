from tiny.m200 import f


def test_0():
    assert f([0, 9, 3, 1]) == 12


def test_1():
    assert f([9, 2, 6]) == 12


def test_2():
    assert f([0, 0, 4, 3]) == 7


def test_3():
    assert f([6, 2, 2, 7]) == 9


def test_4():
    assert f([2, 3, 7, 0]) == 10


def test_5():
    assert f([6, 0, 6]) == 9


def test_6():
    assert f([2, 1, 0, 1]) == 5


def test_7():
    assert f([9, 5]) == 12
