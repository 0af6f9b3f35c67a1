from tiny.m190 import f


def test_0():
    assert f('cbbb') == 'cb'


def test_1():
    assert f('ba') == 'ba'


def test_2():
    assert f('ebbd') == 'eb'


def test_3():
    assert f('ee') == 'ee'


def test_4():
    assert f('da') == 'da'


def test_5():
    assert f('dcea') == 'dc'


def test_6():
    assert f('dece') == 'de'


def test_7():
    assert f('cbe') == 'cb'
