from tiny.m153 import f


def test_0():
    assert f('edbd') == 'ezbzezbz01'


def test_1():
    assert f('db') == 'zbzb01'


def test_2():
    assert f('da') == 'zaza01'


def test_3():
    assert f('cbd') == 'cbzcbz01'


def test_4():
    assert f('eab') == 'eabeab01'


def test_5():
    assert f('ead') == 'eazeaz01'


def test_6():
    assert f('adac') == 'azacazac01'


def test_7():
    assert f('ccdc') == 'cczccczc01'
