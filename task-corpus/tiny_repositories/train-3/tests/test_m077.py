from tiny.m077 import f


def test_0():
    assert f('ebb') == 'eb'


def test_1():
    assert f('cdb') == 'cb'


def test_2():
    assert f('ee') == 'b'


def test_3():
    assert f('ba') == 'b'


def test_4():
    assert f('dde') == 'de'


def test_5():
    assert f('cab') == 'cb'


def test_6():
    assert f('ecdb') == 'ed'


def test_7():
    assert f('bedc') == 'bd'
