from tiny.m050 import f


def test_0():
    assert f('dee') == 'deey'


def test_1():
    assert f('acb') == 'acby'


def test_2():
    assert f('ecc') == 'eccy'


def test_3():
    assert f('bad') == 'bady'


def test_4():
    assert f('becb') == 'becby'


def test_5():
    assert f('ccac') == 'ccacy'


def test_6():
    assert f('cd') == 'cdy'


def test_7():
    assert f('be') == 'bey'
