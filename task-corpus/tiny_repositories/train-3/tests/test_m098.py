from tiny.m098 import f


def test_0():
    assert f('ac') == 'z'


def test_1():
    assert f('ed') == 'd'


def test_2():
    assert f('dbee') == 'bee'


def test_3():
    assert f('ecbc') == 'bce'


def test_4():
    assert f('ecb') == 'be'


def test_5():
    assert f('dbca') == 'czd'


def test_6():
    assert f('bcab') == 'zbb'


def test_7():
    assert f('dda') == 'dz'
