from tiny.m184 import f


def test_0():
    assert f('eebd') == 'deebd'


def test_1():
    assert f('eb') == 'deb'


def test_2():
    assert f('edec') == 'dedec'


def test_3():
    assert f('cbe') == 'dcbe'


def test_4():
    assert f('dbc') == 'ddbc'


def test_5():
    assert f('dcac') == 'ddcac'


def test_6():
    assert f('ce') == 'dce'


def test_7():
    assert f('ee') == 'dee'
