from tiny.m081 import f


def test_0():
    assert f('bad') == 'A'


def test_1():
    assert f('ded') == 'E'


def test_2():
    assert f('ecda') == 'CD'


def test_3():
    assert f('cded') == 'DE'


def test_4():
    assert f('ccde') == 'CD'


def test_5():
    assert f('acc') == 'C'


def test_6():
    assert f('be') == ''


def test_7():
    assert f('adbe') == 'DB'
