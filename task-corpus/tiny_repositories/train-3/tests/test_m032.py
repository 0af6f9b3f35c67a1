from tiny.m032 import f


def test_0():
    assert f('dcda') == 'dc'


def test_1():
    assert f('ecd') == 'ec'


def test_2():
    assert f('eae') == 'ey'


def test_3():
    assert f('ab') == 'yb'


def test_4():
    assert f('de') == 'de'


def test_5():
    assert f('ec') == 'ec'


def test_6():
    assert f('deb') == 'de'


def test_7():
    assert f('bbec') == 'bb'
