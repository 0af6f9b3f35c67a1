from tiny.m164 import f


def test_0():
    assert f('ac') == 'xCAx'


def test_1():
    assert f('cddb') == 'xBDDCx'


def test_2():
    assert f('ec') == 'xCEx'


def test_3():
    assert f('bbb') == 'xBBBx'


def test_4():
    assert f('ad') == 'xDAx'


def test_5():
    assert f('bede') == 'xEDEBx'


def test_6():
    assert f('cb') == 'xBCx'


def test_7():
    assert f('eadd') == 'xDDAEx'
