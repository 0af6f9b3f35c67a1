from tiny.m088 import f


def test_0():
    assert f('bbdc') == 'BBDCZ'


def test_1():
    assert f('edc') == 'EDC'


def test_2():
    assert f('ebc') == 'EBCZ'


def test_3():
    assert f('ae') == 'AE'


def test_4():
    assert f('cb') == 'CBZ'


def test_5():
    assert f('ede') == 'EDE'


def test_6():
    assert f('eee') == 'EEE'


def test_7():
    assert f('cbee') == 'CBEEZ'
