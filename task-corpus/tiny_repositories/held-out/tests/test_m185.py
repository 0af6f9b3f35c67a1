from tiny.m185 import f


def test_0():
    assert f('ece') == 'e'


def test_1():
    assert f('ebab') == 'ae'


def test_2():
    assert f('baac') == 'ab'


def test_3():
    assert f('ecb') == 'e'


def test_4():
    assert f('dbc') == 'd'


def test_5():
    assert f('eaec') == 'ee'


def test_6():
    assert f('ede') == 'e'


def test_7():
    assert f('bcea') == 'eb'
