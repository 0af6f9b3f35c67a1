from tiny.m199 import f


def test_0():
    assert f([3, 3, 3]) == 36


def test_1():
    assert f([5, 5]) == 40


def test_2():
    assert f([8, 7, 1]) == 64


def test_3():
    assert f([7, 2, 6]) == 60


def test_4():
    assert f([7, 1, 0, 9]) == 68


def test_5():
    assert f([2, 3, 7, 1]) == 52


def test_6():
    assert f([6, 4, 9]) == 76


def test_7():
    assert f([2, 8, 3]) == 52
