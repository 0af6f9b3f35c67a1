from tiny.m050 import f


def test_0():
    assert f('eeb') == 'eb'


def test_1():
    assert f('cadd') == 'ayy'


def test_2():
    assert f('ed') == 'y'


def test_3():
    assert f('dc') == ''


def test_4():
    assert f('ddb') == 'yb'


def test_5():
    assert f('eb') == 'b'


def test_6():
    assert f('ec') == ''


def test_7():
    assert f('aaed') == 'aey'
