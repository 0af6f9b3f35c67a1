from tiny.m198 import f


def test_0():
    assert f(2) == [-4, 2]


def test_1():
    assert f(11) == [5, 2]


def test_2():
    assert f(4) == [-2, 2]


def test_3():
    assert f(7) == [1, 2]


def test_4():
    assert f(10) == [4, 2]


def test_5():
    assert f(9) == [3, 2]


def test_6():
    assert f(5) == [-1, 2]


def test_7():
    assert f(1) == [-5, 2]
