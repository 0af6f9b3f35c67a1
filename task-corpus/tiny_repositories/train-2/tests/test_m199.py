from tiny.m199 import f


def test_0():
    assert f([9, 0, 1]) == 1


def test_1():
    assert f([0, 8, 5, 1]) == 0


def test_2():
    assert f([9, 5, 7]) == 2


def test_3():
    assert f([7, 3, 6, 6]) == 3


def test_4():
    assert f([7, 4, 4]) == 1


def test_5():
    assert f([7, 0, 5, 4]) == 2


def test_6():
    assert f([2, 7]) == 0


def test_7():
    assert f([9, 4]) == 4
