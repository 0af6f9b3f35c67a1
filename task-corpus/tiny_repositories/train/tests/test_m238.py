from tiny.m238 import f


def test_0():
    assert f([8, 0]) == 48


def test_1():
    assert f([4, 9, 9, 2]) == 36


def test_2():
    assert f([8, 2, 5]) == 78


def test_3():
    assert f([7, 8, 1, 2]) == 54


def test_4():
    assert f([9, 2, 4, 1]) == 60


def test_5():
    assert f([0, 0, 7, 1]) == 6


def test_6():
    assert f([5, 3, 8, 6]) == 66


def test_7():
    assert f([8, 1, 4, 9]) == 102
