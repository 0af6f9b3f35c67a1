from tiny.m208 import f


def test_0():
    assert f('ded') == 'deddedded'


def test_1():
    assert f('be') == 'bebebe'


def test_2():
    assert f('ce') == 'wewewe'


def test_3():
    assert f('eb') == 'ebebeb'


def test_4():
    assert f('ddb') == 'ddbddbddb'


def test_5():
    assert f('ba') == 'bababa'


def test_6():
    assert f('ca') == 'wawawa'


def test_7():
    assert f('bbdd') == 'bbddbbddbbdd'
