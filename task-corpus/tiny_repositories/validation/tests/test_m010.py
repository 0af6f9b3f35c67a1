from tiny.m010 import f


def test_0():
    assert f('ada') == 'ADA'


def test_1():
    assert f('db') == 'db'


def test_2():
    assert f('da') == 'da'


def test_3():
    assert f('bdd') == 'BDD'


def test_4():
    assert f('cd') == 'cd'


def test_5():
    assert f('cae') == 'CAE'


def test_6():
    assert f('ace') == 'ACE'


def test_7():
    assert f('daae') == 'DAAE'
