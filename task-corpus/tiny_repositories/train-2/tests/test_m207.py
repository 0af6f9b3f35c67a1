from tiny.m207 import f


def test_0():
    assert f([5, 8]) == 32


def test_1():
    assert f([7, 9, 3, 3]) == 50


def test_2():
    assert f([5, 2, 3]) == 26


def test_3():
    assert f([6, 6, 6]) == 42


def test_4():
    assert f([9, 9, 3, 3]) == 54


def test_5():
    assert f([5, 7]) == 30


def test_6():
    assert f([5, 0]) == 16


def test_7():
    assert f([8, 2, 0, 4]) == 34
