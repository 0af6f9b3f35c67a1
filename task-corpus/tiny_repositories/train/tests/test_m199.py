from tiny.m199 import f


def test_0():
    assert f('dec') == 'ce'


def test_1():
    assert f('ca') == 'a'


def test_2():
    assert f('bced') == 'dce'


def test_3():
    assert f('acb') == 'bc'


def test_4():
    assert f('bbc') == 'cb'


def test_5():
    assert f('bed') == 'de'


def test_6():
    assert f('cd') == 'd'


def test_7():
    assert f('dd') == 'd'
