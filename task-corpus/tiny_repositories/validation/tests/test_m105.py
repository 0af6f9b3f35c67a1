from tiny.m105 import f


def test_0():
    assert f('abeb') == 'ave'


def test_1():
    assert f('ccd') == 'cc'


def test_2():
    assert f('bca') == 'vc'


def test_3():
    assert f('ebdb') == 'evd'


def test_4():
    assert f('ab') == 'a'


def test_5():
    assert f('cc') == 'c'


def test_6():
    assert f('eb') == 'e'


def test_7():
    assert f('ba') == 'v'
