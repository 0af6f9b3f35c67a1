from tiny.m009 import f


def test_0():
    assert f('ec') == 'e'


def test_1():
    assert f('bcb') == 'cb'


def test_2():
    assert f('aae') == 'aa'


def test_3():
    assert f('abbd') == 'bba'


def test_4():
    assert f('dca') == 'cd'


def test_5():
    assert f('abeb') == 'eba'


def test_6():
    assert f('ee') == 'e'


def test_7():
    assert f('ad') == 'a'
