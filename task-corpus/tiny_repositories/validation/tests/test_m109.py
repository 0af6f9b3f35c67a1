from tiny.m109 import f


def test_0():
    assert f('dde') == 'ded'


def test_1():
    assert f('cdb') == 'dwc'


def test_2():
    assert f('dda') == 'dad'


def test_3():
    assert f('dc') == 'cd'


def test_4():
    assert f('caac') == 'aacc'


def test_5():
    assert f('ee') == 'ee'


def test_6():
    assert f('bebc') == 'ewcw'


def test_7():
    assert f('deea') == 'eead'
