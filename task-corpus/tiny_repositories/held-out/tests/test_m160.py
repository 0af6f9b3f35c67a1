from tiny.m160 import f


def test_0():
    assert f(4) == 0


def test_1():
    assert f(10) == -26


def test_2():
    assert f(8) == -20


def test_3():
    assert f(0) == 4


def test_4():
    assert f(5) == -1


def test_5():
    assert f(11) == -29


def test_6():
    assert f(12) == -32


def test_7():
    assert f(9) == -23
