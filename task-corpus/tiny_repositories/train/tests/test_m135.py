from tiny.m135 import f


def test_0():
    assert f([7, 9, 0, 7]) == 14


def test_1():
    assert f([0, 0, 0]) == 0


def test_2():
    assert f([5, 8, 7]) == 12


def test_3():
    assert f([9, 2]) == 11


def test_4():
    assert f([5, 5, 7]) == 12


def test_5():
    assert f([2, 3, 8, 0]) == 2


def test_6():
    assert f([5, 5, 6, 4]) == 9


def test_7():
    assert f([8, 9, 2, 4]) == 12
