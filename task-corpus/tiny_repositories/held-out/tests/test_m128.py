from tiny.m128 import f


def test_0():
    assert f(5) == '105'


def test_1():
    assert f(12) == '210'


def test_2():
    assert f(6) == '120'


def test_3():
    assert f(0) == '30'


def test_4():
    assert f(9) == '165'


def test_5():
    assert f(2) == '60'


def test_6():
    assert f(7) == '135'


def test_7():
    assert f(1) == '45'
