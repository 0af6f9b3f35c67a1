from tiny.m134 import f


def test_0():
    assert f('aa') == 'ca'


def test_1():
    assert f('acdc') == 'cacd'


def test_2():
    assert f('dccb') == 'cdcc'


def test_3():
    assert f('cbae') == 'ccba'


def test_4():
    assert f('eeb') == 'cee'


def test_5():
    assert f('bc') == 'cb'


def test_6():
    assert f('bba') == 'cbb'


def test_7():
    assert f('dcee') == 'cdce'
