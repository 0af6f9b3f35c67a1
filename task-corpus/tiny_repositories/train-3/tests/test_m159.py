from tiny.m159 import f


def test_0():
    assert f([7, 7, 6, 3]) == 69


def test_1():
    assert f([0, 7]) == 21


def test_2():
    assert f([3, 6, 2]) == 33


def test_3():
    assert f([4, 9, 3, 9]) == 75


def test_4():
    assert f([3, 9, 4, 6]) == 66


def test_5():
    assert f([4, 0]) == 12


def test_6():
    assert f([9, 9, 8]) == 78


def test_7():
    assert f([6, 7, 0, 6]) == 57
