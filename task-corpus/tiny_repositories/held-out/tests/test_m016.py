from tiny.m016 import f


def test_0():
    assert f('dcae') == 'ddcaee'


def test_1():
    assert f('abe') == 'dabee'


def test_2():
    assert f('bde') == 'dbdee'


def test_3():
    assert f('db') == 'ddbe'


def test_4():
    assert f('ca') == 'dcae'


def test_5():
    assert f('edbd') == 'dedbde'


def test_6():
    assert f('acc') == 'dacce'


def test_7():
    assert f('dedd') == 'ddedde'
