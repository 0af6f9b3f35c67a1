from tiny.m071 import f


def test_0():
    assert f([8, 7, 6, 4]) == 625


def test_1():
    assert f([6, 0]) == 36


def test_2():
    assert f([1, 9, 0]) == 100


def test_3():
    assert f([9, 6, 3, 6]) == 576


def test_4():
    assert f([7, 9]) == 256


def test_5():
    assert f([7, 4, 1, 3]) == 225


def test_6():
    assert f([8, 9, 1, 5]) == 529


def test_7():
    assert f([8, 8, 8, 6]) == 900
