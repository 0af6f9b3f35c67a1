from tiny.m203 import f


def test_0():
    assert f([9, 3]) == 18


def test_1():
    assert f([4, 2]) == 12


def test_2():
    assert f([7, 6, 3, 6]) == 18


def test_3():
    assert f([8, 8]) == 48


def test_4():
    assert f([8, 1]) == 6


def test_5():
    assert f([2, 0, 7, 0]) == 0


def test_6():
    assert f([7, 1, 2]) == 6


def test_7():
    assert f([6, 2]) == 12
