from tiny.m123 import f


def test_0():
    assert f('eddd') == 'xexxxexx'


def test_1():
    assert f('ed') == 'xexe'


def test_2():
    assert f('acc') == 'caccac'


def test_3():
    assert f('acac') == 'cacacaca'


def test_4():
    assert f('ba') == 'abab'


def test_5():
    assert f('deac') == 'cxeacxea'


def test_6():
    assert f('de') == 'exex'


def test_7():
    assert f('ebbc') == 'cebbcebb'
