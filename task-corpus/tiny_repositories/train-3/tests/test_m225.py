from tiny.m225 import f


def test_0():
    assert f([7, 7]) == 30


def test_1():
    assert f([6, 9]) == 32


def test_2():
    assert f([1, 3, 1]) == 26


def test_3():
    assert f([0, 7, 0, 3]) == 30


def test_4():
    assert f([7, 4, 1]) == 30


def test_5():
    assert f([9, 7, 6, 9]) == 32


def test_6():
    assert f([8, 4, 4, 6]) == 31


def test_7():
    assert f([1, 9]) == 32
