from tiny.m120 import f


def test_0():
    assert f('bc') == 'bc'


def test_1():
    assert f('edc') == 'e'


def test_2():
    assert f('aa') == 'aa'


def test_3():
    assert f('cabb') == 'ca'


def test_4():
    assert f('eaae') == 'ea'


def test_5():
    assert f('dbd') == 'b'


def test_6():
    assert f('deec') == 'e'


def test_7():
    assert f('deb') == 'e'
