from tiny.m104 import f


def test_0():
    assert f('bdee') == 'ex'


def test_1():
    assert f('aad') == 'dx'


def test_2():
    assert f('cbea') == 'ex'


def test_3():
    assert f('bc') == 'x'


def test_4():
    assert f('aeac') == 'ax'


def test_5():
    assert f('bca') == 'ax'


def test_6():
    assert f('dbdd') == 'dx'


def test_7():
    assert f('dc') == 'x'
