from tiny.m176 import f


def test_0():
    assert f([7, 1]) == 48


def test_1():
    assert f([5, 9, 3, 1]) == 108


def test_2():
    assert f([6, 1, 5]) == 72


def test_3():
    assert f([2, 6, 7, 1]) == 96


def test_4():
    assert f([3, 8, 2]) == 78


def test_5():
    assert f([5, 0, 9]) == 84


def test_6():
    assert f([4, 4, 0]) == 48


def test_7():
    assert f([3, 7]) == 60
