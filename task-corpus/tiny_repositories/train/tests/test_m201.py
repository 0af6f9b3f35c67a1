from tiny.m201 import f


def test_0():
    assert f([2, 4]) == 54


def test_1():
    assert f([5, 0, 7]) == 135


def test_2():
    assert f([6, 3, 7, 0]) == 162


def test_3():
    assert f([0, 8, 0, 9]) == 0


def test_4():
    assert f([6, 7, 8, 3]) == 162


def test_5():
    assert f([7, 3, 2, 4]) == 189


def test_6():
    assert f([5, 3, 4, 2]) == 135


def test_7():
    assert f([9, 3, 1]) == 243
