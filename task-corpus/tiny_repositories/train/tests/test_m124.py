from tiny.m124 import f


def test_0():
    assert f('cbca') == 'cbcac'


def test_1():
    assert f('bbe') == 'bbec'


def test_2():
    assert f('bd') == 'bdc'


def test_3():
    assert f('ddeb') == 'ddebc'


def test_4():
    assert f('ad') == 'adc'


def test_5():
    assert f('cabe') == 'cabec'


def test_6():
    assert f('ebca') == 'ebcac'


def test_7():
    assert f('ba') == 'bac'
