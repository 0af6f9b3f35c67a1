from tiny.m192 import f


def test_0():
    assert f('cc') == '-1'


def test_1():
    assert f('dadb') == '0'


def test_2():
    assert f('edbc') == '1'


def test_3():
    assert f('cb') == '-1'


def test_4():
    assert f('de') == '0'


def test_5():
    assert f('bdbd') == '1'


def test_6():
    assert f('aadd') == '2'


def test_7():
    assert f('cd') == '1'
