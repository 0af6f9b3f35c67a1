from tiny.m130 import f


def test_0():
    assert f([6, 5, 7, 6]) == 64


def test_1():
    assert f([7, 5]) == 40


def test_2():
    assert f([7, 7]) == 44


def test_3():
    assert f([4, 1]) == 26


def test_4():
    assert f([5, 8]) == 42


def test_5():
    assert f([8, 2, 9, 7]) == 68


def test_6():
    assert f([6, 3, 4, 9]) == 60


def test_7():
    assert f([9, 3, 6]) == 52
