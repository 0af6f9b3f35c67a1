from tiny.m145 import f


def test_0():
    assert f('ccd') == ['c', 'ccd']


def test_1():
    assert f('cad') == ['c', 'cad']


def test_2():
    assert f('dba') == ['c', 'dba']


def test_3():
    assert f('ceea') == ['c', 'ceea']


def test_4():
    assert f('ad') == ['ad', 'c']


def test_5():
    assert f('bdbc') == ['bdbc', 'c']


def test_6():
    assert f('ecbc') == ['c', 'ecbc']


def test_7():
    assert f('bec') == ['bec', 'c']
