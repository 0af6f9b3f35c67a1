from tiny.m073 import f


def test_0():
    assert f('aa') == 'aa'


def test_1():
    assert f('bb') == 'bb'


def test_2():
    assert f('ee') == 'ee'


def test_3():
    assert f('cbc') == 'cb'


def test_4():
    assert f('cb') == 'cb'


def test_5():
    assert f('dca') == 'zc'


def test_6():
    assert f('bc') == 'bc'


def test_7():
    assert f('ce') == 'ce'
