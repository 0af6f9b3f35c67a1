from tiny.m023 import f


def test_0():
    assert f('ccd') == 'bdccdcc'


def test_1():
    assert f('ecca') == 'bacceacce'


def test_2():
    assert f('ee') == 'beeee'


def test_3():
    assert f('dcb') == 'bbcdbcd'


def test_4():
    assert f('dddd') == 'bdddddddd'


def test_5():
    assert f('ccec') == 'bcecccecc'


def test_6():
    assert f('da') == 'badad'


def test_7():
    assert f('edc') == 'bcdecde'
