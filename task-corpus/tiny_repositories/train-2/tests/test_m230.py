from tiny.m230 import f


def test_0():
    assert f('cdea') == 'cdeac'


def test_1():
    assert f('cebb') == 'cebbc'


def test_2():
    assert f('ddcd') == 'ddcdc'


def test_3():
    assert f('bdea') == 'bdeac'


def test_4():
    assert f('ecb') == 'ecbc'


def test_5():
    assert f('bbc') == 'bbcc'


def test_6():
    assert f('cb') == 'cbc'


def test_7():
    assert f('badd') == 'baddc'
