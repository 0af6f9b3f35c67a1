from tiny.m118 import f


def test_0():
    assert f('cac') == 'accac'


def test_1():
    assert f('ecb') == 'cbecb'


def test_2():
    assert f('aea') == 'eaaea'


def test_3():
    assert f('edc') == 'dcedc'


def test_4():
    assert f('eabb') == 'abbeabb'


def test_5():
    assert f('bb') == 'bbb'


def test_6():
    assert f('daee') == 'aeedaee'


def test_7():
    assert f('aec') == 'ecaec'
