from tiny.m102 import f


def test_0():
    assert f('dde') == 'cddeb'


def test_1():
    assert f('cdb') == 'ccdbb'


def test_2():
    assert f('dda') == 'cddab'


def test_3():
    assert f('dc') == 'cdcb'


def test_4():
    assert f('caac') == 'ccaacb'


def test_5():
    assert f('ee') == 'ceeb'


def test_6():
    assert f('bebc') == 'cbebcb'


def test_7():
    assert f('deea') == 'cdeeab'
