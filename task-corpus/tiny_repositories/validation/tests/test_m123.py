from tiny.m123 import f


def test_0():
    assert f('deee') == 'DEEEA'


def test_1():
    assert f('bdd') == 'BDDA'


def test_2():
    assert f('ebcd') == 'EBCDA'


def test_3():
    assert f('cded') == 'CDEDA'


def test_4():
    assert f('edae') == 'EDAEA'


def test_5():
    assert f('ebab') == 'EBABA'


def test_6():
    assert f('da') == 'DAA'


def test_7():
    assert f('cea') == 'CEAA'
