from tiny.m044 import f


def test_0():
    assert f([5, 8, 4]) == 36


def test_1():
    assert f([8, 4]) == 36


def test_2():
    assert f([9, 4]) == 36


def test_3():
    assert f([7, 8, 5, 1]) == 45


def test_4():
    assert f([4, 3]) == 27


def test_5():
    assert f([9, 5, 1]) == 9


def test_6():
    assert f([4, 2]) == 18


def test_7():
    assert f([9, 6]) == 45
